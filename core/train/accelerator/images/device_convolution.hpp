// SPDX-License-Identifier: Apache-2.0
// 3x3 convolutions on a device, as products of matrices. Images are [image][row][column][channel]
// on devices, but for a model's input.
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

// What is unfolded of a batch at once, at most: 128 MiB of fp32. Sums over images depend on it.
inline constexpr std::size_t k_most_unfolded = std::size_t{1} << 25;

// Of the output, that one product adds up for the weights' gradient. Its few values alone would
// leave most of a device idle, so that the parts of all pixels are products side by side.
inline constexpr int k_pixels_of_part = 4096;

struct DeviceConvolutionShape {
  ConvolutionShape shape;
  InputImages input;
  std::size_t most = k_most_unfolded;  // values
  int part = k_pixels_of_part;
};

// Memory of that many floats for one use after the other, by number.
using Scratch = std::function<float*(std::size_t number, std::size_t count)>;

// Throws DeviceError, as does the block. Queue, products and the scratch memory must outlive it.
[[nodiscard]] std::unique_ptr<Block> device_convolution(Queue& queue,
                                                        Products& products,
                                                        const Scratch& scratch,
                                                        Range weights,
                                                        const DeviceConvolutionShape& shape,
                                                        Edge in,
                                                        Edge out);

}  // namespace dts::train::accelerator
