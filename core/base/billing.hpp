// SPDX-License-Identifier: Apache-2.0
// What a site bills for a job.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts {

// Billing units per hour for one unit of each resource; 0: it costs nothing.
struct BillingWeights {
  double node = 0;
  double processor = 0;
  double memory_mib = 0;
  double gpu = 0;                             // of any type
  std::map<std::string, double> gpu_types{};  // by type, in lower case, in addition to `gpu`
  std::vector<std::string> others{};          // resources that we cannot count: "license/solver=2"
};

// Which of a job's resources are billed if they cost different amounts.
enum class BillingRule {
  sum,               // all resources
  largest,           // the most expensive of processors, memory, nodes and GPUs
  largest_and_gpus,  // the most expensive of the first three, plus the GPUs
};

// "sum", "largest", ...; billing_rule_of() returns sum for any other word.
[[nodiscard]] const char* to_string(BillingRule rule);
[[nodiscard]] BillingRule billing_rule_of(std::string_view word);

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

}  // namespace dts
