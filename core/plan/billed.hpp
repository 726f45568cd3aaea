// SPDX-License-Identifier: Apache-2.0
// What the site bills a whole job for each hour. Pure.
#pragma once

#include "core/base/billing.hpp"
#include "core/base/job_limit.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dts::plan {

// One resource on the bill: nodes, cpus, memory or gpus, of which all GPUs and those of a type are
// two.
struct BilledTerm {
  JobLimit::Of of{};
  double units = 0;  // per hour
};

// True if the bill adds it to the others; otherwise only the largest of such terms counts.
[[nodiscard]] bool is_added(BillingRule rule, JobLimit::Of of);

// Units per hour, rounded down as Slurm does for each job (the TRES `billing`).
[[nodiscard]] std::uint64_t billed_units(BillingRule rule, const std::vector<BilledTerm>& terms);

// What a whole job has of each.
struct BilledAmounts {
  std::uint64_t nodes = 0;
  std::uint64_t processors = 0;
  std::uint64_t memory_mib = 0;
  std::uint64_t gpus = 0;
  std::string gpu_type{};  // of all of them; empty: not known, and its weight is not counted
};

// Without weights, each processor is one unit.
[[nodiscard]] std::vector<BilledTerm> billed_terms(const BilledAmounts& amounts,
                                                   const std::optional<BillingWeights>& weights);

}  // namespace dts::plan
