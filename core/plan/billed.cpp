// SPDX-License-Identifier: Apache-2.0
#include "core/plan/billed.hpp"

#include "core/base/text/text.hpp"

#include <algorithm>
#include <cmath>

namespace dts::plan {

bool is_added(BillingRule rule, JobLimit::Of of) {
  return rule == BillingRule::sum ||
         (rule == BillingRule::largest_and_gpus && of == JobLimit::Of::gpus);
}

std::uint64_t billed_units(BillingRule rule, const std::vector<BilledTerm>& terms) {
  double added = 0;
  double largest = 0;
  for (const BilledTerm& term : terms)
    if (is_added(rule, term.of))
      added += term.units;
    else
      largest = std::max(largest, term.units);
  // To Slurm as well, 0.1 times 30 is 3: products of decimal fractions may be one ulp too small.
  return static_cast<std::uint64_t>(std::max(0.0, std::floor((added + largest) * (1 + 1e-12))));
}

std::vector<BilledTerm> billed_terms(const BilledAmounts& amounts,
                                     const std::optional<BillingWeights>& weights) {
  using Of = JobLimit::Of;
  const auto term = [](Of of, std::uint64_t amount, double weight) {
    return BilledTerm{of, static_cast<double>(amount) * weight};
  };
  if (!weights) return {term(Of::cpus, amounts.processors, 1)};
  // Slurm compares names of resources regardless of case.
  const auto typed = weights->gpu_types.find(in_lower_case(amounts.gpu_type));
  return {term(Of::nodes, amounts.nodes, weights->node),
          term(Of::cpus, amounts.processors, weights->processor),
          term(Of::memory, amounts.memory_mib, weights->memory_mib),
          term(Of::gpus, amounts.gpus, weights->gpu),
          term(Of::gpus, amounts.gpus, typed == weights->gpu_types.end() ? 0 : typed->second)};
}

}  // namespace dts::plan
