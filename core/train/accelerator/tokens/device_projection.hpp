// SPDX-License-Identifier: Apache-2.0
// Projections on a device: products with what cuBLASLt calls epilogues.
#pragma once

#include "core/train/accelerator/products.hpp"
#include "core/train/accelerator/tokens/curve.hpp"
#include "core/train/model/token_blocks.hpp"

#include <cstddef>
#include <memory>

namespace dts::train::accelerator {

// Scratch memory that blocks share; nullptr if its size is 0.
struct DeviceProjectionScratch {
  float* bias = nullptr;     // for its gradient: floats_of_bias()
  float* weights = nullptr;  // for their gradient: floats_of_weights()

  [[nodiscard]] static std::size_t floats_of_bias(const Projection& shape);
  [[nodiscard]] static std::size_t floats_of_weights(const Projection& shape);
};

// The block throws DeviceError. The queue must outlive it.
[[nodiscard]] std::unique_ptr<Block> device_projection(Queue& queue,
                                                       Products& products,
                                                       const Layout& layout,
                                                       const Projection& shape,
                                                       Edge in,
                                                       Edge out,
                                                       const DeviceProjectionScratch& scratch,
                                                       const Curves& curves);

}  // namespace dts::train::accelerator
