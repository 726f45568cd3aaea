// SPDX-License-Identifier: Apache-2.0
// Projections on a device: products, and what cuBLASLt calls their epilogues.
#pragma once

#include "core/train/accelerator/products.hpp"
#include "core/train/accelerator/tokens/curve.hpp"
#include "core/train/model/token_blocks.hpp"

#include <cstddef>
#include <memory>

namespace dts::train::accelerator {

// Memory that is undefined between two blocks; nullptr where it has no floats.
struct DeviceProjectionScratch {
  float* bias = nullptr;     // of its gradient: RunSums::floats()
  float* weights = nullptr;  // likewise: floats_of_weights()

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
