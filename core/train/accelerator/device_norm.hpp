// SPDX-License-Identifier: Apache-2.0
// Layer normalisation, About::mean, and RMS normalisation, About::zero, on a device.
#pragma once

#include "core/train/accelerator/queue/queue.hpp"
#include "core/train/model/token_blocks.hpp"

#include <memory>

namespace dts::train::accelerator {

// `copy`: of the output, rounded; perhaps nullptr. `scratch`: for two arrays of sums
// (run_sums.hpp). Throws DeviceError, as does the block. The queue must outlive it.
template <About about>
[[nodiscard]] std::unique_ptr<Block> device_norm(Queue& queue,
                                                 const Layout& layout,
                                                 const Norm& norm,
                                                 Edge in,
                                                 Edge out,
                                                 Bfloat* copy,
                                                 float* scratch);

}  // namespace dts::train::accelerator
