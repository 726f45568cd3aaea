// SPDX-License-Identifier: Apache-2.0
// What a site bills for a job.
#pragma once

#include <map>
#include <string>
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
  sum,  // all resources
  // The most expensive of processors, memory, nodes, all GPUs, and GPUs of a type.
  largest,
  largest_and_gpus,  // the most expensive of the first three, plus all that GPUs cost
};

}  // namespace dts
