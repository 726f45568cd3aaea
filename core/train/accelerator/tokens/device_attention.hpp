// SPDX-License-Identifier: Apache-2.0
// Attention on a device, whose weights are never in memory (kernels/attention.hpp).
#pragma once

#include "core/train/accelerator/products.hpp"
#include "core/train/model/token_blocks.hpp"

#include <memory>

namespace dts::train::accelerator {

// `deltas` [batch][heads][context] are undefined between passes, so that all layers share them.
// Where products round, all arrays are rounded values alone, queries, keys and values before it is
// made, and so are weights; sums are fp32. The block throws DeviceError. The queue must outlive it.
[[nodiscard]] std::unique_ptr<Block> device_attention(
    Queue& queue, Products& products, const Attention& shape, Edge out, float* deltas);

}  // namespace dts::train::accelerator
