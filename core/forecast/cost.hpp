// SPDX-License-Identifier: Apache-2.0
// What a job may cost, in the site's billing units. Pure, thread-safe.
#pragma once

#include "core/forecast/gpus.hpp"
#include "core/forecast/size.hpp"
#include "core/sched/billing.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dts::forecast {

// One resource of the bill.
struct Term {
  std::string what;   // "CPU", "GPU", "GPU a100", "GiB of memory", "node"
  double amount = 0;  // of these
  double weight = 0;  // billing units for an hour of each

  [[nodiscard]] double units() const { return amount * weight; }
};

// Whether the bill adds it to the others; otherwise only the largest of its like counts.
[[nodiscard]] bool is_added(sched::BillingRule rule, const Term& term);

struct Cost {
  bool is_by_default = false;  // the site sets no weights: each processor is a unit
  sched::BillingRule rule = sched::BillingRule::sum;
  std::vector<Term> terms;  // those with a weight
  // Units for an hour: the terms by the rule, rounded down as Slurm does for each job (the TRES
  // `billing`).
  std::uint64_t units = 0;
  std::optional<double> hours;           // of the time limit; absent: none is known
  std::vector<std::string> not_counted;  // what would come in addition, in clauses

  // Units times hours.
  [[nodiscard]] std::optional<double> total() const;
};

struct Billed {
  Size size{};
  Gpus gpus{};
  std::uint64_t processors = 0;  // that the job would get; 0: not known, as many as it asks for
  std::uint64_t node_memory_mib = 0;  // of a node, for a job that takes all of it; 0: not known
  std::optional<std::chrono::seconds> limit{};  // seconds::max(): none
};

// Of a whole job that runs until its time limit: the rule of TRESBillingWeights and PriorityFlags
// in slurm.conf(5). nullopt for `weights`: the processors are billed.
[[nodiscard]] Cost cost_of(const Billed& billed,
                           const std::optional<sched::Weights>& weights,
                           sched::BillingRule rule);

}  // namespace dts::forecast
