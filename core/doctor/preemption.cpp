// SPDX-License-Identifier: Apache-2.0
// Who preempts a job, how, and what its ranks can do about it: slurm.conf(5), sacctmgr(1), and
// src/plugins/preempt of Slurm 22.05 to 26.05. What dtsubmit does: dtsubmit-recovery(7).
#include "core/base/text/text.hpp"
#include "core/base/text/units.hpp"
#include "core/doctor/questions.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::doctor {
namespace {

using sched::Preemption;

constexpr std::uint64_t k_cred_expire = 120;  // seconds, slurm.conf(5), AuthInfo
constexpr std::size_t k_most_names = 5;

constexpr const char* k_show_qos =
    "ask `sacctmgr show qos format=name,preempt,preemptmode,gracetime`";

// How Slurm preempts this job.
struct Manner {
  Preemption mode = Preemption::none;
  std::string who;                  // whose jobs are preempted so: "partition low"
  std::int64_t grace_seconds = 0;   // between SIGTERM and the end
  std::int64_t exempt_seconds = 0;  // the job is not preempted that soon after its start
  Wish longer{};                    // the setting that would increase grace_seconds
  // The gang scheduler preempts jobs whose processors are shared, and ignores GraceTime; only jobs
  // whose GPUs or memory are needed are left to the other schedulers (slurmctld/gang.c).
  bool is_gang = false;
};

bool is_nobody_preempted(const Facts& facts) {
  const auto type = setting(facts, "PreemptType");
  return type.empty() || type == "preempt/none";
}

bool is_by_qos(const Facts& facts) {
  return setting(facts, "PreemptType") == "preempt/qos";
}

Wish longer_grace(std::string file, std::string setting) {
  return {std::move(file),
          std::move(setting),
          "0",
          "120",
          "time to save before a preempted job is killed"};
}

// PreemptMode ("GANG,SUSPEND"), for a QOS that sets none of its own.
Preemption of_cluster(const Facts& facts) {
  for (const char* word : {"suspend", "requeue", "cancel"})
    if (lists(facts, "PreemptMode", word)) return sched::preemption_of(word);
  return Preemption::none;
}

Manner manner_of(const Facts& facts, const sched::QosInfo* qos) {
  const std::int64_t exempt =
      time_in(facts, "PreemptExemptTime").value_or(std::chrono::seconds(0)).count();
  if (qos != nullptr)
    return {qos->preemption.value_or(of_cluster(facts)),
            "QOS " + qos->name,
            qos->grace_seconds,
            std::max<std::int64_t>(qos->exempt_seconds.value_or(exempt), 0),
            longer_grace("sacctmgr", fmt::format("modify qos {} set GraceTime", qos->name))};
  const std::string& name = facts.partition.name;
  return {facts.partition.preemption,
          "partition " + name,
          facts.partition.grace_seconds,
          exempt,
          longer_grace("slurm.conf", fmt::format("PartitionName={} GraceTime", name)),
          lists(facts, "PreemptMode", "gang")};
}

// "urgent and 3 more"; empty: none may preempt it.
std::string preemptors_of(const Facts& facts, const std::string& name) {
  std::vector<std::string> who;
  for (const sched::QosInfo& one : facts.qos)
    if (std::find(one.preempts.begin(), one.preempts.end(), name) != one.preempts.end())
      who.push_back(one.name);
  const std::size_t more = who.size() - std::min(who.size(), k_most_names);
  who.resize(who.size() - more);
  return join(who, ", ") + (more > 0 ? fmt::format(" and {} more", more) : "");
}

// Judges what ranks can do in the time that Slurm leaves them.
Verdict judge_signalled(const Facts& facts, const Manner& manner, const std::string& how) {
  const auto grace = manner.grace_seconds;
  const auto kill_wait = facts.site.kill_wait_seconds;
  if (grace > 0 && manner.is_gang)
    return {
        Answer::partly,
        fmt::format("{}, with {} s of grace if its GPUs or memory are needed; if only its "
                    "processors are, the gang scheduler (PreemptMode=GANG) ends it at once, and "
                    "ranks have KillWait={} s at most; {}",
                    how,
                    grace,
                    kill_wait,
                    comes_back_after(facts)),
        fmt::format("a checkpoint must take less than {} s", kill_wait)};
  if (grace > 0)
    return {Answer::yes,
            fmt::format("{}, with {} s of grace in which all ranks save and no step is lost; {}",
                        how,
                        grace,
                        comes_back_after(facts)),
            fmt::format("a checkpoint must take less than {} s", grace)};
  if (!facts.site.signals_reach_programs)
    return {Answer::yes,
            fmt::format("{}, at once (GraceTime=0); under proctrack/cgroup all ranks have "
                        "KillWait={} s to save; {}",
                        how,
                        kill_wait,
                        comes_back_after(facts)),
            fmt::format("a checkpoint must take less than {} s", kill_wait),
            {manner.longer}};
  return {Answer::partly,
          fmt::format("{}, at once (GraceTime=0); ranks have KillWait={} s at most, and under {} "
                      "srun kills those on other nodes without it, so steps since the last "
                      "checkpoint are repeated; {}",
                      how,
                      kill_wait,
                      setting(facts, "ProctrackType"),
                      comes_back_after(facts)),
          "save often; DTSUBMIT_CHECKPOINT_EVERY advises how often",
          {manner.longer}};
}

Verdict judge_manner(const Facts& facts, const Manner& manner, const std::string& by) {
  if (manner.mode == Preemption::none)
    return {Answer::yes, fmt::format("jobs of {} are not preempted", manner.who)};
  const std::string exempt =
      manner.exempt_seconds > 0
          ? fmt::format(", not before it has run for {} s (PreemptExemptTime)",
                        manner.exempt_seconds)
          : "";
  if (manner.mode == Preemption::suspend)
    return {Answer::yes,
            fmt::format("in {} a preempted job{} is suspended{} and continues later; it stays in "
                        "memory, and dtsubmit does not take the pause for a hang",
                        manner.who,
                        by,
                        exempt)};
  if (!facts.job.requeue) return stays_stopped();
  if (manner.mode == Preemption::requeue)
    return judge_signalled(
        facts, manner, fmt::format("{} requeues a preempted job{}{}", manner.who, by, exempt));
  return judge_signalled(facts,
                         manner,
                         fmt::format("{} cancels a preempted job{}{}, whose agent has it requeued "
                                     "or submits a successor",
                                     manner.who,
                                     by,
                                     exempt));
}

Verdict judge_by_qos(const Facts& facts) {
  const sched::QosInfo* qos = qos_of(facts);
  const std::string rule = "a job's QOS decides who preempts it and how (PreemptType=preempt/qos)";
  if (facts.qos.empty())
    return {Answer::unknown,
            facts.qos_unknown.empty() ? rule + ", and the scheduler reports none"
                                      : fmt::format("{}: {}", rule, facts.qos_unknown),
            k_show_qos};
  if (qos == nullptr)
    return {Answer::unknown,
            fmt::format("{}, and the accounting has no QOS {}",
                        rule,
                        facts.job.qos.empty() ? "that is yours by default"
                                              : fmt::format("`{}`", facts.job.qos)),
            "name one with --qos: `sacctmgr show associations user=$USER format=account,qos`"};
  const std::string preemptors = preemptors_of(facts, qos->name);
  if (preemptors.empty())
    return {Answer::yes, fmt::format("no QOS may preempt jobs of QOS {}", qos->name)};
  return judge_manner(facts, manner_of(facts, qos), fmt::format(" (by jobs of {})", preemptors));
}

}  // namespace

// A requeued job becomes eligible one second after its credential has expired.
std::string comes_back_after(const Facts& facts) {
  constexpr std::string_view k_name = "cred_expire=";
  std::uint64_t expires = k_cred_expire;
  for (const std::string& item : split(setting(facts, "AuthInfo"), ','))
    if (trim(item).starts_with(k_name))
      expires = parse_number(trim(item).substr(k_name.size())).value_or(k_cred_expire);
  return fmt::format("it may start again {} s later (AuthInfo=cred_expire)", expires + 1);
}

Verdict stays_stopped() {
  return {
      Answer::no, "all ranks save, and the run stops: the job has --no-requeue", k_drop_no_requeue};
}

Verdict judge_preemption(const Facts& facts) {
  if (!knows_settings(facts)) return not_known();
  if (is_nobody_preempted(facts))
    return {Answer::yes, "no job is preempted here (PreemptType=preempt/none)"};
  if (is_by_qos(facts)) return judge_by_qos(facts);
  return judge_manner(facts, manner_of(facts, nullptr), "");
}

}  // namespace dts::doctor
