// SPDX-License-Identifier: Apache-2.0
// 3x3 convolutions on a device. Images are [image][row][column][channel] on devices, and rounded
// where products are of bf16, but for a model's input.
#pragma once

#include "core/train/accelerator/products.hpp"
#include "core/train/model/blocks.hpp"

#include <cstddef>
#include <functional>
#include <memory>

namespace dts::train::accelerator {

// Of a model's input: [image][channel][row][column], with zeros around each.
struct InputImages {
  bool is_input = false;
  int padding = 0;
};

// Pixels of the output, at least, whose part of the weights' gradient a block adds up: more where
// that makes more than k_most_parts, which one kernel adds up. Sums over pixels depend on both.
inline constexpr int k_pixels_of_part = 1024;
inline constexpr int k_most_parts = 256;

struct DeviceConvolutionShape {
  ConvolutionShape shape;
  InputImages input;
  int part = k_pixels_of_part;
};

// Memory of that many floats for one use after the other, by number.
using Scratch = std::function<float*(std::size_t number, std::size_t count)>;

// The output and gradients are kept rounded from here on. Throws DeviceError, as does the block.
// Queue, products and the scratch memory must outlive it.
[[nodiscard]] std::unique_ptr<Block> device_convolution(Queue& queue,
                                                        Products& products,
                                                        const Scratch& scratch,
                                                        Range weights,
                                                        const DeviceConvolutionShape& shape,
                                                        Edge in,
                                                        Edge out);

}  // namespace dts::train::accelerator
