// SPDX-License-Identifier: Apache-2.0
// Kernels of the shortcut into a stage of half the size and twice the channels: every second pixel
// of every second row, with zeros in the new channels on both sides (model/image_blocks.hpp).
#pragma once

#include "core/train/accelerator/kernels/images/channels.hpp"
#include "core/train/accelerator/kernels/rounding.hpp"

namespace dts::train::accelerator {

// Maps pixels of the output to those of the input.
struct NarrowedShape {
  int height = 0;  // of the input
  int width = 0;

  [[nodiscard]] DTS_BLOCK_CODE int pixel(int row) const {
    const int out_width = (width + 1) / 2;
    const int out_height = (height + 1) / 2;
    const int image = row / (out_height * out_width);
    const int y = row / out_width % out_height;
    return (image * height + 2 * y) * width + 2 * (row % out_width);
  }

  // The pixels of the input for `rows` pixels of the output.
  [[nodiscard]] std::size_t pixels(int rows) const {
    const int of_image = (height + 1) / 2 * ((width + 1) / 2);
    return static_cast<std::size_t>(rows / of_image) * static_cast<std::size_t>(height * width);
  }
};

// `channels` is the number of output channels.
template <class Value>
struct Narrow : Channelwise {
  struct Shared {};

  NarrowedShape shape;
  const Value* x = nullptr;
  Value* y = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    accelerator::reads(visit, x, row_begin(shape.pixels(rows), channels / 2));
    accelerator::writes(visit, y, area());
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& /*shared*/) const {
    block.each([&](int thread) {
      const int own_channel = channel(block, thread);
      const int from = own_channel - channels / 4;
      const bool is_zero = from < 0 || from >= channels / 2;
      for_each_row(block, thread, [&](int row) {
        y[place(row, own_channel)] =
            is_zero ? Value{}
                    : x[row_begin(static_cast<std::size_t>(shape.pixel(row)), channels / 2) +
                        static_cast<std::size_t>(from)];
      });
    });
  }
};

// Adds to d_x. `channels` is the number of input channels.
template <class Value>
struct NarrowBackward : Channelwise {
  struct Shared {};

  NarrowedShape shape;
  const Value* d_y = nullptr;
  Value* d_x = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    accelerator::reads(visit, d_y, 2 * area());
    accelerator::writes(visit, d_x, row_begin(shape.pixels(rows), channels));
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& /*shared*/) const {
    block.each([&](int thread) {
      const int own_channel = channel(block, thread);
      for_each_row(block, thread, [&](int row) {
        Value& to = d_x[place(shape.pixel(row), own_channel)];
        store(to,
              value_of(to) + value_of(d_y[row_begin(static_cast<std::size_t>(row), 2 * channels) +
                                          static_cast<std::size_t>(own_channel + channels / 2)]));
      });
    });
  }
};

}  // namespace dts::train::accelerator
