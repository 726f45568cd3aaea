// SPDX-License-Identifier: Apache-2.0
// The shared parts of AdamW and LAMB. Pure, thread-safe.
#pragma once

#include "core/train/device/optimizer_kernels.hpp"
#include "core/train/optim/optimizer.hpp"

namespace dts::train {

[[nodiscard]] AdamFactors adam_factors(const OptimizerSettings& settings, const UpdateStep& step);

// Updates Adam's two moments and writes the direction, unbiased mean / (sqrt(unbiased square) +
// epsilon), to `part.next_weights`.
void adam_direction(const OptimizerSettings& settings,
                    const UpdateStep& step,
                    const UpdatePart& part);

}  // namespace dts::train
