// SPDX-License-Identifier: Apache-2.0
// Whether a job comes back after it ended. What Slurm and dtsubmit do then: dtsubmit-recovery(7).
#include "core/base/text/text.hpp"
#include "core/base/text/units.hpp"
#include "core/doctor/questions.hpp"

#include <fmt/format.h>

namespace dts::doctor {
namespace {

constexpr std::uint64_t k_slurmd_timeout = 300;  // seconds, slurm.conf(5), SlurmdTimeout

// The shortest of the limits on a job's time.
struct TimeLimit {
  std::int64_t seconds = -1;  // -1: none
  std::string whose;          // which limit it is: "partition low"
  std::string excess;         // what happens to a job that requests more
};

TimeLimit limit_of(const Facts& facts) {
  TimeLimit limit{facts.partition.max_time_seconds, "partition " + facts.partition.name, ""};
  const sched::QosInfo* qos = qos_of(facts);
  const bool is_enforced = lists(facts, "AccountingStorageEnforce", "limits");
  if (qos == nullptr || !is_enforced || qos->max_time_seconds < 0 ||
      (limit.seconds >= 0 && limit.seconds <= qos->max_time_seconds))
    return limit;
  return {qos->max_time_seconds,
          "QOS " + qos->name,
          qos->refuses_excess ? ": Slurm refuses the job" : ": the job would wait forever"};
}

}  // namespace

Verdict judge_exit_codes(const Facts& facts) {
  for (const unsigned code : {85U, 93U})
    if (const auto* claim = sched::claimed_by(facts.site, code))
      return {Answer::no,
              fmt::format("{} lists exit code {}, which dtsubmit uses itself: `dtsubmit submit` "
                          "refuses the job",
                          claim->setting,
                          code),
              "",
              {{"slurm.conf",
                claim->setting,
                claim->codes,
                fmt::format("a list without {}", code),
                "Slurm would requeue or hold jobs that dtsubmit has ended for good"}}};
  return {Answer::yes, "the site does not use 85 and 93 itself"};
}

Verdict judge_time_limit(const Facts& facts) {
  const TimeLimit limit = limit_of(facts);
  const auto asked = facts.job.time;
  const bool is_unlimited = asked ? *asked == std::chrono::seconds::max() : limit.seconds == -1;
  if (limit.seconds >= 0 && asked && asked->count() > limit.seconds)
    return {Answer::no,
            fmt::format("--time {} is above the limit of {}, {}{}",
                        format_time_limit(*asked),
                        limit.whose,
                        format_time_limit(std::chrono::seconds(limit.seconds)),
                        limit.excess),
            "request less: the run continues in its next job"};
  if (is_unlimited) return {Answer::yes, "the job has no time limit"};
  if (facts.job.margin.count() == 0)
    return {Answer::partly,
            "it is not warned (--signal-margin 0), so steps since the last checkpoint are repeated",
            "omit --signal-margin"};
  if (!facts.job.requeue) return stays_stopped();
  return {Answer::yes,
          fmt::format("warned {} s before, all ranks save and the job is requeued; {}",
                      facts.job.margin.count(),
                      comes_back_after(facts)),
          fmt::format("a checkpoint must take less than {} s; with --chain, the next job already "
                      "waits in the queue",
                      facts.job.margin.count())};
}

Verdict judge_lost_node(const Facts& facts) {
  const auto timeout = number(facts, "SlurmdTimeout").value_or(k_slurmd_timeout);
  if (!facts.job.requeue) return {Answer::no, "the job has --no-requeue", k_drop_no_requeue};
  return {
      Answer::partly,
      fmt::format("the run is requeued without that node and repeats the steps since its last "
                  "checkpoint; if the node of the agent itself is lost, Slurm notices after {} s "
                  "(SlurmdTimeout)",
                  timeout),
      facts.job.nodes > 1 ? "with --spares 1, the run continues at once on a spare node" : ""};
}

}  // namespace dts::doctor
