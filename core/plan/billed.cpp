// SPDX-License-Identifier: Apache-2.0
#include "core/plan/billed.hpp"

#include "core/base/text/text.hpp"

#include <algorithm>
#include <cmath>

namespace dts::plan {
namespace {

// Of all GPUs.
double gpu_units(const BilledAmounts& amounts, const BillingWeights& weights) {
  // Slurm compares names of resources regardless of case.
  const auto typed = weights.gpu_types.find(in_lower_case(amounts.gpu_type));
  const double of_type = typed == weights.gpu_types.end() ? 0 : typed->second;
  return static_cast<double>(amounts.gpus) * (weights.gpu + of_type);
}

}  // namespace

std::uint64_t billed_units(double added, double most_expensive) {
  // To Slurm as well, 0.1 times 30 is 3: products of decimal fractions may be one ulp too small.
  return static_cast<std::uint64_t>(
      std::max(0.0, std::floor((added + most_expensive) * (1 + 1e-12))));
}

std::uint64_t billed_units(const BilledAmounts& amounts,
                           const std::optional<BillingWeights>& weights,
                           BillingRule rule) {
  if (!weights) return amounts.processors;
  const double gpus = gpu_units(amounts, *weights);
  const double nodes = static_cast<double>(amounts.nodes) * weights->node;
  const double processors = static_cast<double>(amounts.processors) * weights->processor;
  const double memory = static_cast<double>(amounts.memory_mib) * weights->memory_mib;
  if (rule == BillingRule::sum) return billed_units(nodes + processors + memory + gpus, 0);
  const double largest = std::max({nodes, processors, memory});
  return rule == BillingRule::largest ? billed_units(0, std::max(largest, gpus))
                                      : billed_units(gpus, largest);
}

}  // namespace dts::plan
