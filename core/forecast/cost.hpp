// SPDX-License-Identifier: Apache-2.0
// What a job may cost, in the site's billing units. Pure, thread-safe.
#pragma once

#include "core/base/billing.hpp"
#include "core/base/job_limit.hpp"
#include "core/forecast/gpus.hpp"
#include "core/forecast/size.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dts::forecast {

// One resource on the bill.
struct Term {
  JobLimit::Of of{};  // nodes, cpus, memory or gpus
  std::string what;   // "CPU", "GPU", "GPU a100", "GiB of memory", "node"
  double amount = 0;  // number of these
  double weight = 0;  // billing units per hour for each

  [[nodiscard]] double units() const { return amount * weight; }
};

struct Cost {
  bool is_by_default = false;  // the site sets no weights, so each processor is one unit
  BillingRule rule = BillingRule::sum;
  std::vector<Term> terms;  // resources with a weight
  // Billing units per hour: the terms combined by the rule and rounded down, as Slurm does for each
  // job (the TRES `billing`).
  std::uint64_t units = 0;
  std::optional<double> hours;           // of the time limit; absent: not known
  std::vector<std::string> not_counted;  // costs that would be added, as clauses

  // Units times hours; nullopt if the hours are not known.
  [[nodiscard]] std::optional<double> total() const;
};

struct Billed {
  Size size{};
  Gpus gpus{};
  std::uint64_t processors = 0;       // that the job would get; 0: not known, as many as requested
  std::uint64_t node_memory_mib = 0;  // of a node, if a job takes all of it; 0: not known
  std::optional<std::chrono::seconds> limit{};  // seconds::max(): no limit
};

// The cost of a whole job that runs until its time limit, by the rule of TRESBillingWeights and
// PriorityFlags in slurm.conf(5). `weights` nullopt: processors are billed.
[[nodiscard]] Cost cost_of(const Billed& billed,
                           const std::optional<BillingWeights>& weights,
                           BillingRule rule);

}  // namespace dts::forecast
