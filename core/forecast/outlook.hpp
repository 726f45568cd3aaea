// SPDX-License-Identifier: Apache-2.0
// What will become of a job, as far as that is known before it is submitted: `dtsubmit plan`. Pure,
// thread-safe.
#pragma once

#include "core/forecast/cost.hpp"
#include "core/forecast/queue.hpp"
#include "core/forecast/size.hpp"
#include "core/reliability/simulate.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dts::forecast {

// The answer of the scheduler.
struct Start {
  enum class Answer {
    expected,
    never,    // as the site and the request are now
    unknown,  // nobody could be asked
  };

  Answer answer = Answer::unknown;
  sched::Expected expected{};  // if it is
  std::string why{};           // otherwise
  std::string hint{};          // what the user can do; may be empty
};

// "expected", "never", "unknown".
[[nodiscard]] const char* to_string(Start::Answer answer);

// What the scheduler said of `outcome`: a rejection means never, any other error that it is not
// known.
[[nodiscard]] Start start_of(Result<sched::Expected> outcome);

struct Goodput {
  reliability::Model model;        // what was assumed
  reliability::Estimate estimate;  // the share of time, and how often to save
  // The length of the run is the job's time limit; false: none is known, and it is the model's own.
  bool is_of_limit = true;
};

struct Job {
  const spec::JobSpec& spec;
  const plan::Plan& plan;
  const std::vector<plan::Plan>& parts;
};

// What the scheduler told about the site.
struct Site {
  SiteQueue queue;
  std::vector<sched::PartitionInfo> partitions;
  sched::BillingRule billing_rule = sched::BillingRule::sum;
};

struct Outlook {
  Size size;
  Gpus gpus;  // that it would be billed for; none if the site is not known
  std::optional<std::chrono::seconds> limit;  // asked for, otherwise the partition's longest
  Start start;
  std::optional<Queue> queue;  // absent: the site is not known
  std::optional<Cost> cost;    // likewise
  std::optional<Goodput> goodput;
  std::vector<std::string> warnings;  // in clauses without a full stop
};

// The partition that `start` names, otherwise the first that the job asks for, otherwise the site's
// default; nullptr if there is no such partition.
[[nodiscard]] const sched::PartitionInfo* partition_of(const Site& site,
                                                       const spec::JobSpec& spec,
                                                       const Start& start);

// `assumed` describes the failures and the policy; nodes, spares and length are the job's. `site`:
// nullptr if it is not known. The same input gives the same outlook: the simulation is seeded.
[[nodiscard]] Outlook look_ahead(const Job& job,
                                 const Site* site,
                                 Start start,
                                 const reliability::Model& assumed);

}  // namespace dts::forecast
