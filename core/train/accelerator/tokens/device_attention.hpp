// SPDX-License-Identifier: Apache-2.0
// Attention on a device, without its weights in memory (kernels/attention.hpp).
#pragma once

#include "core/train/accelerator/products.hpp"
#include "core/train/model/token_blocks.hpp"

#include <memory>

namespace dts::train::accelerator {

// `deltas` [batch][heads][context] is scratch memory that all layers may share. If products round,
// all arrays hold only rounded values (queries, keys and values must do so before this call), as do
// weights; sums are fp32. The block throws DeviceError. The queue must outlive it.
[[nodiscard]] std::unique_ptr<Block> device_attention(
    Queue& queue, Products& products, const Attention& shape, Edge out, float* deltas);

}  // namespace dts::train::accelerator
