// SPDX-License-Identifier: Apache-2.0
// Element-wise blocks on a device: GELU, SwiGLU, and the rotations of positions.
#pragma once

#include "core/train/accelerator/products.hpp"
#include "core/train/accelerator/tokens/curve.hpp"
#include "core/train/model/token_blocks.hpp"

#include <cstddef>
#include <memory>

namespace dts::train::accelerator {

// If products round, all arrays hold only rounded values; the inputs of these blocks must do so
// before these calls. The blocks throw DeviceError. The queue must outlive them. `curve` belongs to
// the projection that computes `in`; nullptr if it is computed by another block.
[[nodiscard]] std::unique_ptr<Block> device_gelu(Queue& queue,
                                                 Products& products,
                                                 std::size_t count,
                                                 Edge in,
                                                 Edge out,
                                                 std::shared_ptr<const Curve> curve);
[[nodiscard]] std::unique_ptr<Block> device_swiglu(
    Queue& queue, Products& products, std::size_t count, Edge gate, Edge up, Edge out);

struct Rotation {
  const float* cosine = nullptr;  // [context][width / 2], in device memory
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
