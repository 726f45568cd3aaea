// SPDX-License-Identifier: Apache-2.0
// The input of 3x3 convolutions with padding 1, as a matrix that is not stored in memory. It has a
// row for each pixel of the output, with the nine values of each channel that the pixel sees, by
// tap and then by channel, so that neighbours in memory are neighbours in the matrix (implicit
// products: S. Chetlur et al., "cuDNN: Efficient Primitives for Deep Learning", 2014, section 3.1).
#pragma once

#include "core/train/accelerator/kernels/divisor.hpp"
#include "core/train/accelerator/kernels/products/tiles.hpp"

namespace dts::train::accelerator {

inline constexpr int k_taps = 9;

// Tap t of pixel (row, column) of the output is at row * stride + t / 3 - 1 and column * stride + t
// % 3 - 1 of images with `spread` - 1 zeros between their rows and columns: the gradient of an
// input is a convolution of the output's gradient, whose pixels are a stride apart, with mirrored
// weights (V. Dumoulin and F. Visin, "A guide to convolution arithmetic for deep learning", 2016,
// section 4).
struct TapShape {
  int channels = 0;  // of the images that are read
  int height = 0;
  int width = 0;
  int out_height = 0;
  int out_width = 0;
  int stride = 1;
  int spread = 1;

  // The length of a row of the matrix, rounded up to a multiple of 8.
  [[nodiscard]] DTS_CODE_OF_BOTH int pitch() const { return (k_taps * channels + 7) / 8 * 8; }

  [[nodiscard]] DTS_CODE_OF_BOTH int out_pixels() const { return out_height * out_width; }
};

// The distances between images, channels, rows and pixels.
struct PixelStrides {
  std::int64_t image = 0;
  std::int64_t channel = 0;
  std::int64_t row = 0;
  std::int64_t pixel = 0;
};

// The matrix. The number of output pixels of all images must fit into 31 bits.
template <class Value>
struct TappedImages {
  TapShape shape;
  PixelStrides strides;
  const Value* first = nullptr;  // pixel of the first image
  Divisor by_channels;
  Divisor by_spread;
  Divisor by_width;   // of the output
  Divisor by_pixels;  // of the output, per image

  TappedImages() = default;

  TappedImages(const TapShape& of, const PixelStrides& from_to, const Value* first_pixel)
      : shape(of),
        strides(from_to),
        first(first_pixel),
        by_channels(of.channels),
        by_spread(of.spread),
        by_width(of.out_width),
        by_pixels(of.out_pixels()) {}

  // The address of a value of a row; nullptr if it is zero, outside of the image or between spread
  // pixels.
  [[nodiscard]] DTS_BLOCK_CODE const Value* at(int pixel, int value) const {
    const int tap = by_channels.quotient(value);
    const int image = by_pixels.quotient(pixel);
    const int of_image = pixel - image * by_pixels.value;
    const int out_y = by_width.quotient(of_image);
    const int spread_y = out_y * shape.stride + tap / 3 - 1;
    const int spread_x = (of_image - out_y * shape.out_width) * shape.stride + tap % 3 - 1;
    if (tap >= k_taps || spread_y < 0 || spread_x < 0) return nullptr;
    const int y = by_spread.quotient(spread_y);
    const int x = by_spread.quotient(spread_x);
    if (y * shape.spread != spread_y || x * shape.spread != spread_x || y >= shape.height ||
        x >= shape.width)
      return nullptr;
    return first + image * strides.image + (value - tap * shape.channels) * strides.channel +
           y * strides.row + x * strides.pixel;
  }

  // Whether any eight neighbours of a row are either neighbours in memory or all zero.
  [[nodiscard]] DTS_BLOCK_CODE bool allows_eights() const {
    return shape.channels % Eight::k_count == 0 && strides.channel == 1 &&
           accelerator::allows_eights(first, strides.pixel);
  }

  // For `pixels` pixels of the output.
  template <class Visit>
  void accesses(const Visit& visit, int pixels) const {
    const std::int64_t images = pixels / shape.out_pixels();
    accelerator::reads(visit,
                       first,
                       static_cast<std::size_t>((images - 1) * strides.image +
                                                (shape.channels - 1) * strides.channel +
                                                (shape.height - 1) * strides.row +
                                                (shape.width - 1) * strides.pixel + 1));
  }
};

// Some pixels of it as the rows of a factor (tiles.hpp).
template <class Value>
struct PixelsFactor {
  static constexpr bool k_is_upright = false;

  const TappedImages<Value>& images;
  int pixel = 0;  // the first
  int rows = 0;

  [[nodiscard]] DTS_BLOCK_CODE const Value* at(int row, int column) const {
    return images.at(pixel + row, column);
  }

  [[nodiscard]] DTS_BLOCK_CODE float operator()(int row, int column) const {
    const Value* const address = at(row, column);
    return address == nullptr ? 0.0F : value_of(*address);
  }

  [[nodiscard]] DTS_BLOCK_CODE bool allows_eights(int end) const {
    return end % Eight::k_count == 0 && images.allows_eights();
  }
};

// The same as its columns. Its rows are values that pixels see, from a multiple of eight on.
template <class Value>
struct TapsFactor {
  static constexpr bool k_is_upright = true;

  const TappedImages<Value>& images;
  int pixel = 0;
  int value = 0;
  int rows = 0;  // a multiple of eight

  [[nodiscard]] DTS_BLOCK_CODE const Value* at(int row, int column) const {
    return images.at(pixel + column, value + row);
  }

  [[nodiscard]] DTS_BLOCK_CODE float operator()(int row, int column) const {
    const Value* const address = at(row, column);
    return address == nullptr ? 0.0F : value_of(*address);
  }

  [[nodiscard]] DTS_BLOCK_CODE bool allows_eights(int /*end*/) const {
    return images.allows_eights();
  }
};

}  // namespace dts::train::accelerator
