// SPDX-License-Identifier: Apache-2.0
// Whether a job comes back. What Slurm does and what dtsubmit does about it: dtsubmit-recovery(7).
#include "core/base/text/text.hpp"
#include "core/base/text/units.hpp"
#include "core/doctor/questions.hpp"

#include <fmt/format.h>

namespace dts::doctor {
namespace {

using sched::Preemption;

constexpr std::uint64_t k_cred_expire = 120;     // seconds, slurm.conf(5), AuthInfo
constexpr std::uint64_t k_slurmd_timeout = 300;  // seconds, slurm.conf(5), SlurmdTimeout

// A requeued job is not eligible before its credential has expired, and a second more.
std::uint64_t held_back(const Facts& facts) {
  constexpr std::string_view k_name = "cred_expire=";
  for (const std::string& item : split(setting(facts, "AuthInfo"), ','))
    if (trim(item).starts_with(k_name))
      return parse_number(trim(item).substr(k_name.size())).value_or(k_cred_expire) + 1;
  return k_cred_expire + 1;
}

std::string comes_back_after(const Facts& facts) {
  return fmt::format("it may start again {} s later (AuthInfo=cred_expire)", held_back(facts));
}

std::string partition_setting(const Facts& facts, const char* name) {
  return fmt::format("PartitionName={} {}", facts.partition.name, name);
}

constexpr const char* k_stays_stopped =
    "all ranks save, and the run stops: the job was asked not to be requeued";
constexpr const char* k_drop_no_requeue =
    "omit --no-requeue, or continue it with `dtsubmit requeue`";

bool is_nobody_preempted(const Facts& facts) {
  const auto type = setting(facts, "PreemptType");
  return type.empty() || type == "preempt/none";
}

// What ranks can do in the time that Slurm leaves them.
Verdict judge_signalled(const Facts& facts, const std::string& how) {
  const auto grace = facts.partition.grace_seconds;
  if (grace > 0)
    return {Answer::yes,
            fmt::format("{}, with {} s of grace in which all ranks save and no step is lost; {}",
                        how,
                        grace,
                        comes_back_after(facts)),
            fmt::format("a checkpoint has to take less than {} s", grace)};
  const Wish longer{"slurm.conf",
                    partition_setting(facts, "GraceTime"),
                    "0",
                    "120",
                    "time to save before a preempted job is killed"};
  const auto kill_wait = facts.site.kill_wait_seconds;
  if (!facts.site.signals_reach_programs)
    return {Answer::yes,
            fmt::format("{}, at once (GraceTime=0); under proctrack/cgroup all ranks have "
                        "KillWait={} s to save in; {}",
                        how,
                        kill_wait,
                        comes_back_after(facts)),
            fmt::format("a checkpoint has to take less than {} s", kill_wait),
            {longer}};
  return {Answer::partly,
          fmt::format("{}, at once (GraceTime=0); ranks have KillWait={} s at most, and under {} "
                      "srun kills those on other nodes without it, so that steps since the last "
                      "checkpoint are repeated; {}",
                      how,
                      kill_wait,
                      setting(facts, "ProctrackType"),
                      comes_back_after(facts)),
          "save often: the run's advice is in DTSUBMIT_CHECKPOINT_EVERY",
          {longer}};
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
  return {Answer::yes, "the site gives no meaning of its own to 85 and 93"};
}

Verdict judge_preemption(const Facts& facts) {
  if (!knows_settings(facts)) return not_known();
  if (is_nobody_preempted(facts))
    return {Answer::yes, "nobody is preempted here (PreemptType=preempt/none)"};
  if (setting(facts, "PreemptType") == "preempt/qos")
    return {Answer::unknown,
            "here a job's QOS decides who preempts it and how (PreemptType=preempt/qos)",
            "ask `sacctmgr show qos format=name,preempt,preemptmode,gracetime`"};
  const std::string name = facts.partition.name;
  switch (facts.partition.preemption) {
    case Preemption::none:
      return {Answer::yes, fmt::format("jobs of partition {} are not preempted", name)};
    case Preemption::suspend:
      return {
          Answer::yes,
          fmt::format("in partition {} a preempted job is suspended and goes on later; it stays "
                      "in memory, and that time is not a hang",
                      name)};
    case Preemption::requeue:
      if (!facts.job.requeue) return {Answer::no, k_stays_stopped, k_drop_no_requeue};
      return judge_signalled(facts, fmt::format("partition {} requeues a preempted job", name));
    case Preemption::cancel:
      if (!facts.job.requeue) return {Answer::no, k_stays_stopped, k_drop_no_requeue};
      return judge_signalled(
          facts,
          fmt::format("partition {} cancels a preempted job, whose agent has it requeued or "
                      "submits a successor",
                      name));
  }
  return {};
}

Verdict judge_time_limit(const Facts& facts) {
  const auto most = facts.partition.max_time_seconds;
  const auto asked = facts.job.time;
  const bool is_unlimited = asked ? *asked == std::chrono::seconds::max() : most == -1;
  if (most >= 0 && asked && asked->count() > most)
    return {Answer::no,
            fmt::format("--time {} is above the limit of partition {}, {}",
                        format_time_limit(*asked),
                        facts.partition.name,
                        format_time_limit(std::chrono::seconds(most))),
            "ask for less: the run continues in its next job"};
  if (is_unlimited) return {Answer::yes, "it has none"};
  if (facts.job.margin.count() == 0)
    return {Answer::partly,
            "it is not warned (--signal-margin 0), so that steps since the last checkpoint are "
            "repeated",
            "omit --signal-margin"};
  if (!facts.job.requeue) return {Answer::no, k_stays_stopped, k_drop_no_requeue};
  return {Answer::yes,
          fmt::format("warned {} s before, all ranks save and the job is requeued; {}",
                      facts.job.margin.count(),
                      comes_back_after(facts)),
          fmt::format("a checkpoint has to take less than {} s; --chain has the next job wait in "
                      "the queue meanwhile",
                      facts.job.margin.count())};
}

Verdict judge_lost_node(const Facts& facts) {
  const auto timeout = number(facts, "SlurmdTimeout").value_or(k_slurmd_timeout);
  if (!facts.job.requeue)
    return {Answer::no, "the job was asked not to be requeued", k_drop_no_requeue};
  return {
      Answer::partly,
      fmt::format("the run is requeued without that node and repeats the steps since its last "
                  "checkpoint; if the node of the agent itself is lost, Slurm notices after {} s "
                  "(SlurmdTimeout)",
                  timeout),
      facts.job.nodes > 1 ? "--spares 1 has a node in reserve, with which it goes on at once" : ""};
}

}  // namespace dts::doctor
