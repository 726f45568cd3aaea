// SPDX-License-Identifier: Apache-2.0
// Attention on a device, with its weights in memory: all heads of one sample at a time.
#pragma once

#include "core/train/accelerator/products.hpp"
#include "core/train/model/token_blocks.hpp"

#include <memory>

namespace dts::train::accelerator {

// `weights` and `d_weights` [heads][context][context] are undefined between passes, so that all
// layers share them; weights are computed once more in the backward pass. The block throws
// DeviceError. Queue and products must outlive it.
[[nodiscard]] std::unique_ptr<Block> device_attention(Queue& queue,
                                                      Products& products,
                                                      const Attention& shape,
                                                      Edge out,
                                                      float* weights,
                                                      float* d_weights);

}  // namespace dts::train::accelerator
