// SPDX-License-Identifier: Apache-2.0
// What a site bills for a job.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dts::sched {

// Billing units for an hour of one of each; 0: it costs nothing.
struct Weights {
  double node = 0;
  double processor = 0;
  double memory_mib = 0;
  double gpu = 0;                             // of any type
  std::map<std::string, double> gpu_types{};  // in addition, of this one
  std::vector<std::string> others{};          // resources that we cannot count: "license/solver=2"
};

// What is billed of a job whose resources cost different sums.
enum class BillingRule {
  sum,               // all of them
  largest,           // the most expensive one of: processors, memory, nodes, GPUs
  largest_and_gpus,  // the most expensive one of the others, and the GPUs
};

// "sum", ...; sum for any other word.
[[nodiscard]] const char* to_string(BillingRule rule);
[[nodiscard]] BillingRule billing_rule_of(std::string_view word);

}  // namespace dts::sched
