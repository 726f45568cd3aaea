// SPDX-License-Identifier: Apache-2.0
#include "core/drill/drill.hpp"

#include "core/drill/watch.hpp"
#include "core/launch/job/assignment.hpp"
#include "core/launch/job/successor.hpp"

#include <fmt/format.h>

#include <csignal>
#include <functional>
#include <thread>

namespace dts::drill {
namespace {

using ByHand = std::function<Result<void>()>;

Result<void> act_on_rank(const Target& target, Act act) {
  DTS_ASSIGN(const unsigned number, act_on(target, target.nodes, act));
  if (number == 0)
    return fail(
        Errc::not_found,
        fmt::format("no program of rank {} runs on the nodes of {}", target.rank, target.run.path),
        "see `dtsubmit status`; --rank chooses another");
  return {};
}

Result<void> kill_agent(const Target& target) {
  DTS_ASSIGN(const unsigned number, act_on(target, target.nodes, Act::agent));
  if (number == 0)
    return fail(Errc::not_found,
                fmt::format("no agent of {} runs on its nodes", target.run.path),
                "see `dtsubmit status`");
  return {};
}

// With two nodes, the node whose loss does not end the batch script.
const std::string& victim_node(const Target& target) {
  return target.nodes.back();
}

Result<void> lose_node(const Target& target, const Ground* ground) {
  if (ground != nullptr) return ground->lose(victim_node(target));
  DTS_TRY(act_on(target, {victim_node(target)}, Act::lose));
  return {};
}

Result<void> inject(Fault fault, const Target& target, const Ground* ground) {
  switch (fault) {
    case Fault::preempt:
      return ground != nullptr ? ground->preempt() : target.scheduler->requeue(target.job);
    case Fault::timeout:
      return target.scheduler->signal_batch(target.job, SIGUSR1);
    case Fault::rank_kill:
      return act_on_rank(target, Act::kill);
    case Fault::agent_kill:
      return kill_agent(target);
    case Fault::hang:
      return act_on_rank(target, Act::stop);
    case Fault::slow:
      return act_on_rank(target, Act::slow);
    case Fault::disk_full:
      return ground->fill_disk();
    case Fault::node_loss:
      return lose_node(target, ground);
  }
  return {};
}

// Does what `dtsubmit requeue` does, after the repair that a user would have to make first.
ByHand by_hand(Fault fault, const Target& target, const Ground* ground) {
  if (!facts_of(fault).by_hand) return {};
  return [fault, &target, ground]() -> Result<void> {
    if (fault == Fault::disk_full) DTS_TRY(ground->free_disk());
    return launch::run_again(
               *target.scheduler, target.run, "a drill continues", std::chrono::system_clock::now())
        .map([](const launch::Resumed&) {});
  };
}

Result<run::Policy> policy_of(const run::RunDirectory& run) {
  DTS_ASSIGN(const spec::JobSpec spec, launch::read_spec(run));
  return launch::read_policy(spec);
}

Result<Shown> hit(Fault fault,
                  const Target& target,
                  const Ground* ground,
                  std::chrono::seconds limit) {
  const auto since = Clock::now();
  DTS_TRY(inject(fault, target, ground));
  if (facts_of(fault).causes.empty()) return watch_survival(target, fault, since, limit);
  return watch(target, fault, since, limit, by_hand(fault, target, ground));
}

// From the fault to the end of the run.
Result<void> play(const Ground& ground,
                  const Target& target,
                  std::chrono::seconds limit,
                  Report& report) {
  DTS_ASSIGN(const run::Policy policy, policy_of(target.run));
  DTS_ASSIGN(report.shown, hit(report.fault, target, &ground, limit));
  const auto digest = ground.finish(target.run);
  report.digest = digest.value_or("");
  report.undisturbed = ground.undisturbed();
  // Every node of the ground is this machine, so no process of the attempt may exist anywhere.
  report.shown.left = static_cast<int>(processes_of(target.run, target.attempt).size());
  report.problems = faults_found(
      report.shown, policy, Strictness{k_ground_interval, report.digest, report.undisturbed});
  return digest.map([](const std::string&) {});
}

}  // namespace

Result<Report> drill_run(Fault fault, const Target& target, std::chrono::seconds limit) {
  if (fault == Fault::disk_full)
    return fail(Errc::invalid,
                "disk-full is not available for a real job: others use its file system",
                "without a run, it uses a small file system of a private cluster");
  if (facts_of(fault).needs_scheduler && target.scheduler == nullptr)
    return fail(Errc::invalid,
                fmt::format("{} needs a job of a scheduler, and {} is not one",
                            facts_of(fault).name,
                            target.run.path),
                "rank-kill, hang and slow work here");
  DTS_ASSIGN(const run::Policy policy, policy_of(target.run));
  Report report{fault, target.run.path};
  DTS_ASSIGN(report.shown, hit(fault, target, nullptr, limit));
  report.problems = faults_found(report.shown, policy, std::nullopt);
  return report;
}

Result<Report> drill_on(Ground& ground, Fault fault, std::chrono::seconds limit) {
  Report report{fault};
  if (fault == Fault::disk_full && !ground.can_fill_disk()) {
    report.skipped = "needs root, to mount a small file system for the run directory";
    return report;
  }
  const auto target = ground.train();
  const auto done =
      target ? play(ground, *target, limit, report) : tl::unexpected<Error>(target.error());
  if (!done && done.error().code != Errc::interrupted)
    report.problems.push_back(done.error().message);
  const bool keep = !report.problems.empty() && (done || done.error().code != Errc::interrupted);
  report.run_directory = ground.run().path;
  if (keep) report.why = ground.why();
  if (const std::string kept = ground.clear(keep); !kept.empty()) {
    report.run_directory = kept;
    report.kept = true;
  }
  if (!done && done.error().code == Errc::interrupted) return tl::unexpected<Error>(done.error());
  return report;
}

}  // namespace dts::drill
