// SPDX-License-Identifier: Apache-2.0
// The blocks of image networks on a device, except for convolutions: batch normalisation with what
// follows it, pooling, shortcuts, and linear layers (model/blocks.hpp, model/image_blocks.hpp).
#pragma once

#include "core/train/accelerator/products.hpp"
#include "core/train/accelerator/queue/queue.hpp"
#include "core/train/model/image_blocks.hpp"

#include <cstddef>
#include <memory>
#include <string>

namespace dts::train::accelerator {

// The size of `partials`, which must have room for the sums of any block's channels.
//
// The output images of a block are kept rounded (Products::keep_rounded). Every function may throw
// DeviceError, as may the blocks. The queue must outlive the blocks.
[[nodiscard]] std::size_t norm_partials(const Images& shape);

[[nodiscard]] std::unique_ptr<Block> device_bn_relu(Queue& queue,
                                                    Products& products,
                                                    const Layout& layout,
                                                    const std::string& name,
                                                    const Images& shape,
                                                    Edge in,
                                                    Edge out,
                                                    const float* residual,
                                                    double* partials);

// The output is in blocks of 16 channels.
[[nodiscard]] std::unique_ptr<Block> device_bn_relu_pool(Queue& queue,
                                                         Products& products,
                                                         const Layout& layout,
                                                         const std::string& name,
                                                         const Images& shape,
                                                         Edge in,
                                                         Edge out,
                                                         double* partials);

[[nodiscard]] std::unique_ptr<Block> device_gradient_sum(
    Queue& queue, const Products& products, std::size_t count, Edge in, const float* branch);

[[nodiscard]] std::unique_ptr<Block> device_narrowing_shortcut(
    Queue& queue, Products& products, const Images& in_shape, Edge in, Edge out);

[[nodiscard]] std::unique_ptr<Block> device_average_pool(
    Queue& queue, const Products& products, const Images& in_shape, Edge in, Edge out);

// Applies ReLU to the `count` output values of `product`.
[[nodiscard]] std::unique_ptr<Block> device_relu_after(Queue& queue,
                                                       std::unique_ptr<Block> product,
                                                       std::size_t count,
                                                       Edge out);

}  // namespace dts::train::accelerator
