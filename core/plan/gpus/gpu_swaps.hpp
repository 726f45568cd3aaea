// SPDX-License-Identifier: Apache-2.0
// Improves groups of GPUs by exchanges. Pure. Private to core/plan.
#pragma once

#include "core/plan/cores/fewest_near.hpp"
#include "core/plan/gpus/gpus_apart.hpp"

#include <vector>

namespace dts::plan {

// Swaps GPUs, one or two at a time between two groups, one each among three groups, and with those
// of `gpus` that are in no group, as long as the groups become better by compare(), or for some
// thousand attempts. Trying all ways may find better groups. The GPUs in each group, and the
// groups, are in ascending order.
[[nodiscard]] std::vector<std::vector<unsigned>> swap_gpus(
    const GpuPairs& pairs,
    const FewestNear& near,
    const std::vector<unsigned>& gpus,
    std::vector<std::vector<unsigned>> groups);

}  // namespace dts::plan
