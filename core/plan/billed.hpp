// SPDX-License-Identifier: Apache-2.0
// What the site bills a whole job for each hour. Pure.
#pragma once

#include "core/base/billing.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace dts::plan {

// Units per hour, combined by the rule: `added` in any case, and of the others the most expensive.
// Rounded down, as Slurm does for each job (the TRES `billing`).
[[nodiscard]] std::uint64_t billed_units(double added, double most_expensive);

// What a whole job has of each.
struct BilledAmounts {
  std::uint64_t nodes = 0;
  std::uint64_t processors = 0;
  std::uint64_t memory_mib = 0;
  std::uint64_t gpus = 0;
  std::string gpu_type{};  // of all of them; empty: not known, and its weight is not counted
};

// Units per hour; without weights, each processor is one unit.
[[nodiscard]] std::uint64_t billed_units(const BilledAmounts& amounts,
                                         const std::optional<BillingWeights>& weights,
                                         BillingRule rule);

}  // namespace dts::plan
