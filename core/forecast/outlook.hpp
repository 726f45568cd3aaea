// SPDX-License-Identifier: Apache-2.0
// What can be predicted about a job before it is submitted: `dtsubmit plan`. Pure, thread-safe.
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

// The scheduler's answer about the start of a job.
struct Start {
  enum class Answer {
    expected,
    never,    // given the current state of the site and the request
    unknown,  // the scheduler could not be asked
  };

  Answer answer = Answer::unknown;
  sched::Expected expected{};  // valid if expected
  std::string why{};           // the reason otherwise
  std::string hint{};          // what the user can do; may be empty
};

// "expected", "never", "unknown".
[[nodiscard]] const char* to_string(Start::Answer answer);

// Interprets the scheduler's reply: a rejection means never, any other error means unknown.
[[nodiscard]] Start start_of(Result<sched::Expected> outcome);

struct Goodput {
  reliability::Model model;        // the assumptions
  reliability::Estimate estimate;  // share of computing time, and how often to save
  // True if the run's length is the job's time limit; false if none is known and the model's is
  // used.
  bool is_of_limit = true;
};

struct Job {
  const spec::JobSpec& spec;
  const plan::Plan& plan;
  const std::vector<plan::Plan>& parts;
};

// What the scheduler reported about the site.
struct Site {
  SiteQueue queue;
  std::vector<sched::PartitionInfo> partitions;
  BillingRule billing_rule = BillingRule::sum;
  std::uint32_t power_up_seconds = 0;  // a node is powered up within this time; 0: not known
};

struct Outlook {
  Size size;
  bool whole_nodes = false;  // the job gets all processors and GPUs of its nodes, as far as known
  Gpus gpus;                 // that it would be billed for; none if the site is not known
  std::optional<std::chrono::seconds> limit;  // requested limit, otherwise the partition's maximum
  Start start;
  unsigned powered_down = 0;  // of the nodes that it would start on
  std::chrono::seconds
      power_up{};              // after the start, until they are up at the latest; 0: not known
  std::optional<Queue> queue;  // absent: the site is not known
  std::optional<Cost> cost;    // absent: the site is not known
  std::optional<Goodput> goodput;
  std::vector<std::string> warnings;  // clauses without a full stop
};

// The partition that `start` names, otherwise the first that the job requests, otherwise the site's
// default; nullptr if there is no such partition.
[[nodiscard]] const sched::PartitionInfo* partition_of(const Site& site,
                                                       const spec::JobSpec& spec,
                                                       const Start& start);

// `assumed` describes the failures and the policy; nodes, spares and length are the job's. `site`
// is nullptr if it is not known. The same input gives the same outlook, since the simulation is
// seeded.
[[nodiscard]] Outlook predict_outlook(const Job& job,
                                      const Site* site,
                                      Start start,
                                      const reliability::Model& assumed);

}  // namespace dts::forecast
