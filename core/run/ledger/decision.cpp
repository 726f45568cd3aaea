// SPDX-License-Identifier: Apache-2.0
#include "core/run/ledger/decision.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::run {
namespace {

constexpr unsigned k_most_without_progress = 2;
constexpr unsigned k_most_unproven = 3;  // each may cost seconds, or days in the queue
constexpr std::chrono::seconds k_longest_delay{60};

// Decides for causes that leave no choice.
std::optional<Decision> settled(const Outcome& outcome, const char* way) {
  switch (outcome.cause) {
    case Cause::completed:
      return Decision{Action::done, 0, "every rank's program exited 0"};
    case Cause::cancelled:
      return Decision{Action::stop, outcome.exit_code, "the job was cancelled"};
    case Cause::stopped:
      return Decision{Action::stop,
                      outcome.exit_code,
                      fmt::format("stopped as requested; {} continues it", way)};
    case Cause::no_restart:
      return Decision{Action::stop, outcome.exit_code, "the program exited 93: do not restart"};
    case Cause::wrong_ranks:
      return Decision{Action::stop, outcome.exit_code, "starting again would give the same ranks"};
    case Cause::second_launcher:
      return Decision{
          Action::stop, outcome.exit_code, "starting again would start as many launchers again"};
    case Cause::wrong_binding:
      return Decision{Action::stop,
                      outcome.exit_code,
                      "starting again would bind the ranks in the same way; without "
                      "--strict-binding it would go on"};
    case Cause::fenced:
      return Decision{Action::stop, outcome.exit_code, "a newer attempt owns the run"};
    case Cause::run_vanished:
      return Decision{Action::stop, outcome.exit_code, "nothing is left to continue from there"};
    case Cause::run_damaged:
      return Decision{Action::stop,
                      outcome.exit_code,
                      fmt::format("it cannot be continued as it is; repair it, then {}", way)};
    default:
      return std::nullopt;
  }
}

std::string why_no_more(const Outcome& outcome, const char* way) {
  switch (outcome.cause) {
    case Cause::no_program:
      if (outcome.detail.find(k_runtime_failed) != std::string::npos)
        return "the container's runtime failed: see its message, and submit the job again";
      return "trying again would not find it; correct the command and submit it again";
    case Cause::set_up_failed:
      return "the set-up failed; correct it and submit the job again";
    case Cause::user_exit:
      return "the program failed";
    case Cause::corruption:
      return fmt::format(
          "its bits are wrong; {} continues it elsewhere from the last good checkpoint", way);
    case Cause::damaged:
      return "it would start over at step 0; put a good checkpoint there, or allow that with --on "
             "damaged=restart";
    case Cause::disk_full:
      return fmt::format("no space is left on the disk; make some, then {}", way);
    default:
      return fmt::format("--on says to stop after {}", to_string(outcome.cause));
  }
}

// Why the run may not continue; empty if it may.
std::string exhausted(const Outcome& outcome, const Circumstances& now, const Policy& policy) {
  const Rule rule = policy.rule(outcome.cause);
  if (rule.action == Action::stop) return why_no_more(outcome, way_to_continue(now.in_scheduler));
  const Kind kind = kind_of(outcome.cause);
  if (kind == Kind::crash && now.without_progress >= k_most_without_progress)
    return fmt::format("{} crashes in a row without a new checkpoint", now.without_progress);
  if (kind == Kind::checkpointed && !rule.chosen && now.unproven >= k_most_unproven)
    return fmt::format(
        "{} attempts asked to be run again (exit code 85) without a new checkpoint in "
        "DTSUBMIT_CHECKPOINT_DIR and without a new step; where that is right, --on "
        "checkpointed={}:N allows more",
        now.unproven,
        to_string(rule.action));
  const unsigned count = now.count(kind);
  if (rule.most && count > *rule.most)
    return fmt::format("{} {}, over the budget of {}", to_string(kind), count, *rule.most);
  if (policy.time_total.count() > 0 && now.elapsed >= policy.time_total)
    return fmt::format("{} s of running have used up --time-total", now.elapsed.count());
  return {};
}

// "crash 2 of at most 3"
std::string tally(const Outcome& outcome, const Circumstances& now, const Policy& policy) {
  const Kind kind = kind_of(outcome.cause);
  const unsigned count = now.count(kind);
  if (const auto most = policy.rule(outcome.cause).most)
    return fmt::format("{} {} of at most {}", to_string(kind), count, *most);
  return to_string(outcome.cause);
}

// The program asked to be run again. The first time, any limit is announced.
Decision run_again(const Circumstances& now, const Policy& policy) {
  std::string why = "the program asked to be run again";
  if (now.unproven > 0 && !policy.rule(Cause::checkpointed).chosen)
    why += fmt::format(", with neither a new checkpoint nor a new step ({} of {} such attempts)",
                       now.unproven,
                       k_most_unproven);
  return {Action::restart, 0, std::move(why), "", back_off(now.unproven)};
}

Decision restart(const Outcome& outcome, const Circumstances& now, const Policy& policy) {
  if (outcome.cause == Cause::checkpointed) return run_again(now, policy);
  const Kind kind = kind_of(outcome.cause);
  const bool counted = kind == Kind::launch || kind == Kind::disk;
  return {Action::restart,
          0,
          tally(outcome, now, policy) + ": once more on the same nodes",
          "",
          back_off(counted ? now.count(kind) : now.without_progress)};
}

// True for causes that concern a job, not a program. Without a scheduler, this means the user's
// Ctrl-C.
bool is_of_the_job(Cause cause) {
  const Kind kind = kind_of(cause);
  return kind == Kind::preempted || kind == Kind::signalled || kind == Kind::node_failed ||
         kind == Kind::timeout;
}

// True for causes that remain on the same nodes: a launch would fail again, unless it gets another
// port; a broken GPU and perhaps memory that changed bits remain broken, and a lost node is gone.
bool is_of_a_node(const Outcome& outcome) {
  return !outcome.node.empty() && !outcome.port_changes &&
         (kind_of(outcome.cause) == Kind::launch || outcome.cause == Cause::gpu_error ||
          outcome.cause == Cause::corruption || outcome.cause == Cause::node_failed);
}

bool goes_elsewhere(const Outcome& outcome, const Circumstances& now, Action wanted) {
  return is_of_a_node(outcome) && outcome.cause != Cause::node_failed && now.in_scheduler &&
         now.may_requeue && wanted != Action::resubmit;
}

// The nodes to avoid, as a host list.
std::string where(const Outcome& outcome) {
  std::string nodes;
  for (const UnfitNode& unfit : outcome.unfit) nodes += (nodes.empty() ? "" : ",") + unfit.node;
  return nodes.empty() ? outcome.node : nodes;
}

}  // namespace

const char* way_to_continue(bool in_scheduler) {
  return in_scheduler ? "`dtsubmit requeue`" : "`dtsubmit run --continue`";
}

std::chrono::seconds back_off(unsigned failures) {
  if (failures == 0) return std::chrono::seconds(0);
  return std::min(k_longest_delay, std::chrono::seconds(1U << std::min(failures - 1, 16U)));
}

Decision decide(const Outcome& outcome, const Circumstances& now, const Policy& policy) {
  const char* const way = way_to_continue(now.in_scheduler);
  const Decision by_the_user{
      Action::stop, outcome.exit_code, fmt::format("{}; {} continues it", now.stop_asked, way)};
  if (!now.stop_asked.empty() && outcome.cause == Cause::stopped) return by_the_user;
  if (auto decision = settled(outcome, way)) return *std::move(decision);
  if (!now.stop_asked.empty()) return by_the_user;
  // Budgets do not matter here: the job will run again.
  if (now.already_requeued) return {Action::wait, 0, "the scheduler has requeued the job itself"};
  if (std::string reason = exhausted(outcome, now, policy); !reason.empty())
    return {Action::stop, outcome.exit_code, std::move(reason)};
  if (!now.in_scheduler && is_of_the_job(outcome.cause))
    return {Action::stop, outcome.exit_code, fmt::format("saved; {} continues it", way)};
  const Action wanted = policy.rule(outcome.cause).action;
  if (now.has_spares && is_of_a_node(outcome) && wanted != Action::resubmit)
    return {Action::restart,
            0,
            fmt::format("{}: once more in this job, on its spare nodes in place of {}",
                        tally(outcome, now, policy),
                        where(outcome)),
            "",
            std::chrono::seconds(0)};
  if (goes_elsewhere(outcome, now, wanted))
    return {Action::requeue,
            0,
            fmt::format("{}: once more without {}", tally(outcome, now, policy), where(outcome)),
            where(outcome)};
  // A job with a broken GPU that may not be requeued gets a restart instead.
  const bool may_return = now.may_requeue || outcome.cause != Cause::gpu_error;
  if (wanted == Action::restart || !now.in_scheduler || !may_return)
    return restart(outcome, now, policy);
  if (wanted == Action::resubmit)
    return {Action::resubmit,
            0,
            fmt::format("{}: submitting a successor", tally(outcome, now, policy))};
  if (!now.may_requeue) return {Action::stop, outcome.exit_code, "requeue is off (--no-requeue)"};
  return {
      Action::requeue,
      0,
      fmt::format("{}: asking the scheduler to run the job again", tally(outcome, now, policy))};
}

}  // namespace dts::run
