// SPDX-License-Identifier: Apache-2.0
// Kernels that make images smaller: 2x2 max pooling after batch normalisation and ReLU, and means
// of all pixels.
#pragma once

#include "core/train/accelerator/kernels/images/batch_norm.hpp"

namespace dts::train::accelerator {

// 2x2 max pooling of images [row][column][channel] with even sizes; a row is a pixel of the output.
// The output is in blocks of 16 channels, [image][channel / 16][row][column][16], as linear layers
// expect it (model/layout.hpp).
struct PooledShape {
  int height = 0;  // of the input
  int width = 0;

  // The first of the four pixels of the input.
  [[nodiscard]] DTS_BLOCK_CODE int first(int row) const {
    const int half = width / 2;
    const int out_row = row / half;  // of all images
    return 2 * out_row * width + 2 * (row - out_row * half);
  }

  // Pixel number 0 to 3 of the four, row by row.
  [[nodiscard]] DTS_BLOCK_CODE int pixel(int first, int number) const {
    return first + number / 2 * width + number % 2;
  }

  [[nodiscard]] DTS_BLOCK_CODE std::size_t out(int row, int channel, std::size_t groups) const {
    const int pixels = height * width / 4;
    const int image = row / pixels;
    const std::size_t block = static_cast<std::size_t>(image) * groups +
                              static_cast<std::size_t>(channel / Channelwise::k_channels);
    return (block * static_cast<std::size_t>(pixels) +
            static_cast<std::size_t>(row - image * pixels)) *
               Channelwise::k_channels +
           static_cast<std::size_t>(channel % Channelwise::k_channels);
  }
};

// The largest of four values, and the index of its first occurrence.
struct Largest {
  float value = 0;
  int number = 0;

  template <class Values>
  DTS_BLOCK_CODE explicit Largest(const Values& values) : value(values(0)) {
    for (int i = 1; i < 4; ++i) {
      const float other = values(i);
      if (!(other > value)) continue;
      value = other;
      number = i;
    }
  }
};

// The largest normalised value of a channel in the four pixels of x that begin with `first`.
template <class Value>
[[nodiscard]] DTS_BLOCK_CODE Largest largest_of(const Channelwise& rows,
                                                const PooledShape& shape,
                                                const ChannelScale& scale,
                                                const Value* x,
                                                int first,
                                                int channel) {
  return Largest(
      [&](int i) { return scale(value_of(x[rows.place(shape.pixel(first, i), channel)])); });
}

// y = 2x2 max pooling of relu(batch norm(x)).
template <class Value>
struct BatchNormReluPool : Channelwise {
  struct Shared {};

  PooledShape shape;
  ChannelNorm norm;
  const Value* x = nullptr;
  Value* y = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    norm.accesses(visit, channels);
    accelerator::reads(visit, x, 4 * area());
    accelerator::writes(visit, y, area());
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& /*shared*/) const {
    block.each([&](int thread) {
      const int own_channel = channel(block, thread);
      const ChannelScale scale(norm, own_channel);
      for_each_row(block, thread, [&](int row) {
        const int first = shape.first(row);
        const Largest top = largest_of(*this, shape, scale, x, first, own_channel);
        store(y[shape.out(row, own_channel, groups())], relu(top.value));
      });
    });
  }
};

// The sums of the gradient that passes the maximum, and of its products with normalised x.
template <class Value>
struct BatchNormPoolGradients : ChannelPartials {
  PooledShape shape;
  ChannelNorm norm;
  const Value* x = nullptr;
  const Value* d_y = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    norm.accesses(visit, channels);
    accelerator::reads(visit, x, 4 * area());
    accelerator::reads(visit, d_y, area());
    writes_partials(visit);
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& shared) const {
    add_up(block, shared, [&](int thread) {
      const int own_channel = channel(block, thread);
      const ChannelScale scale(norm, own_channel);
      TwoSums sums;
      for_each_row(block, thread, [&](int row) {
        const int first = shape.first(row);
        const Largest top = largest_of(*this, shape, scale, x, first, own_channel);
        if (!(top.value > 0)) return;
        const float gradient = value_of(d_y[shape.out(row, own_channel, groups())]);
        sums.first += gradient;
        sums.second +=
            gradient *
            scale.normal(value_of(x[place(shape.pixel(first, top.number), own_channel)]));
      });
      return sums;
    });
  }
};

// The gradient of x. The first of equal maxima gets the gradient of the maximum.
template <class Value>
struct BatchNormPoolBackward : Channelwise {
  struct Shared {};

  PooledShape shape;
  ChannelNorm norm;
  const float* d_gamma = nullptr;
  const float* d_beta = nullptr;
  const Value* x = nullptr;
  const Value* d_y = nullptr;
  Value* d_x = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    norm.accesses(visit, channels);
    accelerator::reads(visit, d_gamma, static_cast<std::size_t>(channels));
    accelerator::reads(visit, d_beta, static_cast<std::size_t>(channels));
    accelerator::reads(visit, x, 4 * area());
    accelerator::reads(visit, d_y, area());
    accelerator::writes(visit, d_x, 4 * area());
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& /*shared*/) const {
    block.each([&](int thread) {
      const int own_channel = channel(block, thread);
      const ChannelScale scale(norm, own_channel);
      const InputGradient input_gradient(scale, d_gamma, d_beta, own_channel, 4 * rows);
      for_each_row(block, thread, [&](int row) {
        const int first = shape.first(row);
        const Largest top = largest_of(*this, shape, scale, x, first, own_channel);
        const float gradient =
            top.value > 0 ? value_of(d_y[shape.out(row, own_channel, groups())]) : 0.0F;
        for (int i = 0; i < 4; ++i) {
          const std::size_t at = place(shape.pixel(first, i), own_channel);
          store(d_x[at],
                input_gradient(i == top.number ? gradient : 0.0F, scale.normal(value_of(x[at]))));
        }
      });
    });
  }
};

// means [images][channels] over all pixels.
template <class Value>
struct PixelMeans {
  static constexpr int k_threads = k_block_threads;
  static constexpr int k_channels = Channelwise::k_channels;

  struct Shared {
    float sums[k_threads];
  };

  int images = 0;
  int pixels = 0;    // per image
  int channels = 0;  // a multiple of k_channels
  const Value* x = nullptr;
  float* means = nullptr;

  [[nodiscard]] std::size_t blocks() const {
    return static_cast<std::size_t>(images) * static_cast<std::size_t>(channels / k_channels);
  }

  template <class Visit>
  void accesses(const Visit& visit) const {
    const std::size_t all = row_begin(static_cast<std::size_t>(images), channels);
    accelerator::reads(visit, x, all * static_cast<std::size_t>(pixels));
    accelerator::writes(visit, means, all);
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& shared) const {
    const auto groups = static_cast<std::size_t>(channels / k_channels);
    const std::size_t image = block.index() / groups;
    const std::size_t first = block.index() % groups * k_channels;
    block.each([&](int thread) {
      const Value* const from = x + row_begin(image, channels * pixels) + first +
                                static_cast<std::size_t>(thread % k_channels);
      float sum = 0;
      strided<k_threads / k_channels>(thread / k_channels, pixels, [&](int pixel) {
        sum += value_of(from[row_begin(static_cast<std::size_t>(pixel), channels)]);
      });
      shared.sums[thread] = sum;
    });
    fold(block, shared.sums, Sum(), k_channels);
    block.each([&](int thread) {
      if (thread < k_channels)
        means[row_begin(image, channels) + first + static_cast<std::size_t>(thread)] =
            shared.sums[thread] / static_cast<float>(pixels);
    });
  }
};

// Divides the gradient of a mean equally among the pixels.
template <class Value>
struct PixelMeansBackward : Channelwise {
  struct Shared {};

  int pixels = 0;  // per image
  const float* d_means = nullptr;
  Value* d_x = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    accelerator::reads(visit, d_means, area() / static_cast<std::size_t>(pixels));
    accelerator::writes(visit, d_x, area());
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& /*shared*/) const {
    const float share = 1.0F / static_cast<float>(pixels);
    block.each([&](int thread) {
      const int own_channel = channel(block, thread);
      for_each_row(block, thread, [&](int row) {
        store(d_x[place(row, own_channel)], share * d_means[place(row / pixels, own_channel)]);
      });
    });
  }
};

}  // namespace dts::train::accelerator
