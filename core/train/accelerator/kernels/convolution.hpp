// SPDX-License-Identifier: Apache-2.0
// Kernels that make matrix products of 3x3 convolutions with padding 1: the nine values of each
// channel that a pixel of the output sees are a row, by tap and then by channel, so that neighbours
// in memory are neighbours there (K. Chellapilla et al., "High Performance Convolutional Neural
// Networks for Document Processing", 2006).
#pragma once

#include "core/train/accelerator/kernels/rounding.hpp"

namespace dts::train::accelerator {

inline constexpr int k_taps = 9;

// Of some images. Their values that are unfolded fit into 31 bits.
struct Convolved {
  int channels = 0;  // of the input
  int height = 0;
  int width = 0;
  int stride = 1;
  int out_height = 0;
  int out_width = 0;

  // Values of a row that are unfolded, up to a multiple of 8: what fast products need.
  [[nodiscard]] DTS_CODE_OF_BOTH int pitch() const { return (k_taps * channels + 7) / 8 * 8; }
};

// From one image, channel, row and pixel to the next, in floats.
struct PixelStrides {
  std::int64_t image = 0;
  std::int64_t channel = 0;
  std::int64_t row = 0;
  std::int64_t pixel = 0;
};

template <class Value>
[[nodiscard]] DTS_BLOCK_CODE inline Value rounded_to(float value) {
  if constexpr (sizeof(Value) == sizeof(Bfloat))
    return rounded_to_bf16(value);
  else
    return value;
}

// to [images * out_height * out_width][pitch], an element each; zero outside of the images, and in
// gaps.
template <class Value>
struct Unfold : Elementwise {
  Convolved shape;
  PixelStrides strides;
  const float* from = nullptr;  // the first pixel
  Value* to = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    const auto row = static_cast<std::int64_t>(shape.pitch()) * shape.out_height * shape.out_width;
    const std::int64_t images = static_cast<std::int64_t>(count) / row;
    accelerator::reads(visit,
                       from,
                       static_cast<std::size_t>((images - 1) * strides.image +
                                                (shape.channels - 1) * strides.channel +
                                                (shape.height - 1) * strides.row +
                                                (shape.width - 1) * strides.pixel + 1));
    accelerator::writes(visit, to, count);
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& /*shared*/) const {
    for_each(block, [&](std::size_t i) { to[i] = rounded_to<Value>(value(static_cast<int>(i))); });
  }

 private:
  [[nodiscard]] DTS_BLOCK_CODE float value(int i) const {
    const int pixel = i / shape.pitch();
    const int in_row = i - pixel * shape.pitch();
    const int tap = in_row / shape.channels;
    const int channel = in_row - tap * shape.channels;
    const int y = pixel / shape.out_width % shape.out_height * shape.stride + tap / 3 - 1;
    const int x = pixel % shape.out_width * shape.stride + tap % 3 - 1;
    if (tap >= k_taps || y < 0 || x < 0 || y >= shape.height || x >= shape.width) return 0;
    const int image = pixel / (shape.out_width * shape.out_height);
    return from[image * strides.image + channel * strides.channel + y * strides.row +
                x * strides.pixel];
  }
};

// The reverse: to [images][height][width][channels], an element each, is the sum of what the pixels
// of the output that see it give it, by tap.
struct Fold : Elementwise {
  Convolved shape;
  const float* from = nullptr;
  float* to = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    const std::size_t image = static_cast<std::size_t>(shape.channels) *
                              static_cast<std::size_t>(shape.height) *
                              static_cast<std::size_t>(shape.width);
    accelerator::reads(
        visit,
        from,
        row_begin(count / image * static_cast<std::size_t>(shape.out_height * shape.out_width),
                  shape.pitch()));
    accelerator::writes(visit, to, count);
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& /*shared*/) const {
    for_each(block, [&](std::size_t i) { to[i] = sum(static_cast<int>(i)); });
  }

 private:
  [[nodiscard]] DTS_BLOCK_CODE float sum(int i) const {
    const int pixel = i / shape.channels;
    const int channel = i - pixel * shape.channels;
    const int x = pixel % shape.width;
    const int y = pixel / shape.width % shape.height;
    const int image = pixel / (shape.width * shape.height);
    float all = 0;
    for (int tap = 0; tap < k_taps; ++tap) {
      const int up = y + 1 - tap / 3;  // times the stride: where the output is that sees it
      const int left = x + 1 - tap % 3;
      const int out_y = up / shape.stride;
      const int out_x = left / shape.stride;
      if (up < 0 || left < 0 || out_y * shape.stride != up || out_x * shape.stride != left ||
          out_y >= shape.out_height || out_x >= shape.out_width)
        continue;
      const int row = (image * shape.out_height + out_y) * shape.out_width + out_x;
      all += from[row_begin(static_cast<std::size_t>(row), shape.pitch()) +
                  static_cast<std::size_t>(tap * shape.channels + channel)];
    }
    return all;
  }
};

// Weights [out][channels][9] as the rows of Unfold: [out][pitch], an element each.
template <class Value>
struct WeightsByTap : Elementwise {
  int channels = 0;
  int pitch = 0;
  const float* from = nullptr;
  Value* to = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    const std::size_t rows = count / static_cast<std::size_t>(pitch);
    accelerator::reads(visit, from, row_begin(rows, k_taps * channels));
    accelerator::writes(visit, to, count);
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& /*shared*/) const {
    for_each(block, [&](std::size_t i) {
      const int row = static_cast<int>(i) / pitch;
      const int at = static_cast<int>(i) - row * pitch;
      const int tap = at / channels;
      const int channel = at - tap * channels;
      to[i] =
          rounded_to<Value>(tap < k_taps ? from[(row * channels + channel) * k_taps + tap] : 0.0F);
    });
  }
};

// The reverse, of gradients: [out][channels][9], an element each, of [out][pitch].
struct WeightsByChannel : Elementwise {
  int channels = 0;
  int pitch = 0;
  const float* from = nullptr;
  float* to = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    accelerator::reads(
        visit, from, row_begin(count / static_cast<std::size_t>(k_taps * channels), pitch));
    accelerator::writes(visit, to, count);
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& /*shared*/) const {
    for_each(block, [&](std::size_t i) {
      const int row = static_cast<int>(i) / k_taps / channels;
      const int channel = static_cast<int>(i) / k_taps % channels;
      const int tap = static_cast<int>(i) % k_taps;
      to[i] = from[row * pitch + tap * channels + channel];
    });
  }
};

}  // namespace dts::train::accelerator
