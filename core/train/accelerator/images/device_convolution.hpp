// SPDX-License-Identifier: Apache-2.0
// 3x3 convolutions on a device. On devices images are [image][row][column][channel], and are
// rounded for bf16 products, except for a model's input.
#pragma once

#include "core/train/accelerator/products.hpp"
#include "core/train/model/blocks.hpp"

#include <cstddef>
#include <functional>
#include <memory>

namespace dts::train::accelerator {

// The layout of a model's input: [image][channel][row][column], with zeros around each image.
struct InputImages {
  bool is_input = false;
  int padding = 0;
};

// The gradient of the weights is added up in parts of at least this many pixels of the output, or
// more if there would be more than k_most_parts parts, which one kernel adds up. The bits of sums
// over pixels depend on both constants.
inline constexpr int k_pixels_of_part = 1024;
inline constexpr int k_most_parts = 256;

struct DeviceConvolutionShape {
  ConvolutionShape shape;
  InputImages input;
  int part = k_pixels_of_part;
};

// Returns memory of `count` floats, for one use after another; `number` tells uses apart.
using Scratch = std::function<float*(std::size_t number, std::size_t count)>;

// From now on the output and gradients are kept rounded. Throws DeviceError, as does the block.
// Queue, products and the scratch memory must outlive the block.
[[nodiscard]] std::unique_ptr<Block> device_convolution(Queue& queue,
                                                        Products& products,
                                                        const Scratch& scratch,
                                                        Range weights,
                                                        const DeviceConvolutionShape& shape,
                                                        Edge in,
                                                        Edge out);

}  // namespace dts::train::accelerator
