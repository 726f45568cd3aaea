// SPDX-License-Identifier: Apache-2.0
// Layer normalisation, NormKind::layer, and RMS normalisation, NormKind::rms, on a device.
#pragma once

#include "core/train/accelerator/products.hpp"
#include "core/train/model/token_blocks.hpp"

#include <cstddef>
#include <memory>

namespace dts::train::accelerator {

// The number of floats of each of two arrays of sums.
[[nodiscard]] std::size_t device_norm_sums(const RowShape& shape);

// If products round, the output holds only rounded values, and the gradient of the input gets a
// rounded copy. `scratch` has room for two arrays of device_norm_sums(). Throws DeviceError, as
// does the block. The queue and the products must outlive the block.
template <NormKind kind>
[[nodiscard]] std::unique_ptr<Block> device_norm(Queue& queue,
                                                 Products& products,
                                                 const Layout& layout,
                                                 const Norm& norm,
                                                 Edge in,
                                                 Edge out,
                                                 float* scratch);

}  // namespace dts::train::accelerator
