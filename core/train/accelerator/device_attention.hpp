// SPDX-License-Identifier: Apache-2.0
// Attention on a device, whose weights are never in memory (kernels/attention.hpp).
#pragma once

#include "core/train/accelerator/queue/queue.hpp"
#include "core/train/model/token_blocks.hpp"

#include <memory>

namespace dts::train::accelerator {

// `deltas` [batch][heads][context] are undefined between passes, so that all layers share them.
// `copy`: of the output, rounded; if it is set, factors are rounded to bf16, weights among them,
// and sums are fp32. The block throws DeviceError. The queue must outlive it.
[[nodiscard]] std::unique_ptr<Block> device_attention(
    Queue& queue, const Attention& shape, Edge out, float* deltas, Bfloat* copy);

}  // namespace dts::train::accelerator
