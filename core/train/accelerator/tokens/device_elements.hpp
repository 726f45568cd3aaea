// SPDX-License-Identifier: Apache-2.0
// Blocks of one element after the other on a device: GELU, SwiGLU, and the rotations of positions.
#pragma once

#include "core/train/accelerator/products.hpp"
#include "core/train/accelerator/tokens/curve.hpp"
#include "core/train/model/token_blocks.hpp"

#include <cstddef>
#include <memory>

namespace dts::train::accelerator {

// All arrays are rounded values alone where products round; the inputs of these blocks are, before
// they are made. The blocks throw DeviceError. The queue must outlive them.
// `curve`: of the projection that gives `in`; nullptr: something else does.
[[nodiscard]] std::unique_ptr<Block> device_gelu(Queue& queue,
                                                 Products& products,
                                                 std::size_t count,
                                                 Edge in,
                                                 Edge out,
                                                 std::shared_ptr<const Curve> curve);
[[nodiscard]] std::unique_ptr<Block> device_swiglu(
    Queue& queue, Products& products, std::size_t count, Edge gate, Edge up, Edge out);

struct Rotation {
  const float* cosine = nullptr;  // [context][width / 2], on the device
  const float* sine = nullptr;
  int batch = 0;
  int context = 0;
  int width = 0;  // of a head
  Heads heads;
};

[[nodiscard]] std::unique_ptr<Block> device_rotation(Queue& queue,
                                                     Products& products,
                                                     const Rotation& rotation);

}  // namespace dts::train::accelerator
