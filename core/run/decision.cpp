// SPDX-License-Identifier: Apache-2.0
#include "core/run/decision.hpp"

#include <fmt/format.h>

namespace dts::run {
namespace {

constexpr unsigned k_most_crashes = 3;
constexpr unsigned k_most_launch_failures = 2;
constexpr unsigned k_most_without_progress = 2;

Decision come_back(const Outcome& outcome, const Circumstances& now) {
  if (!now.in_scheduler)
    return {Action::stop, outcome.exit_code, "saved; run the same command again to continue"};
  if (now.already_requeued) return {Action::wait, 0, "the scheduler has requeued the job itself"};
  if (!now.may_requeue) return {Action::stop, outcome.exit_code, "requeue is off (--no-requeue)"};
  return {Action::requeue,
          0,
          fmt::format("{}: asking the scheduler to run the job again", to_string(outcome.cause))};
}

Decision try_again(const Outcome& outcome, const Circumstances& now) {
  if (now.already_requeued) return {Action::wait, 0, "the scheduler has requeued the job itself"};
  if (now.without_progress >= k_most_without_progress)
    return {Action::stop,
            outcome.exit_code,
            fmt::format("{} crashes in a row without a new checkpoint", now.without_progress)};
  if (now.crashes > k_most_crashes)
    return {Action::stop,
            outcome.exit_code,
            fmt::format("{} crashes, more than the budget of {}", now.crashes, k_most_crashes)};
  return {Action::restart,
          0,
          fmt::format(
              "crash {} of at most {}: once more on the same nodes", now.crashes, k_most_crashes)};
}

}  // namespace

const char* to_string(Action action) {
  switch (action) {
    case Action::done:
      return "done";
    case Action::stop:
      return "stop";
    case Action::restart:
      return "restart";
    case Action::requeue:
      return "requeue";
    case Action::wait:
      return "wait";
  }
  return "unknown";
}

Decision decide(const Outcome& outcome, const Circumstances& now) {
  switch (outcome.cause) {
    case Cause::completed:
      return {Action::done, 0, "every rank's program exited 0"};
    case Cause::preempted:
    case Cause::time_limit:
    case Cause::requeued:
      return come_back(outcome, now);
    case Cause::checkpointed:
      return {Action::restart, 0, "the program asked to be run again"};
    case Cause::rank_killed:
    case Cause::launcher_died:
      return try_again(outcome, now);
    case Cause::launch_failed:
      if (now.already_requeued)
        return {Action::wait, 0, "the scheduler has requeued the job itself"};
      if (now.launch_failures <= k_most_launch_failures)
        return {
            Action::restart,
            0,
            fmt::format(
                "launch failure {} of at most {}", now.launch_failures, k_most_launch_failures)};
      return {Action::stop, outcome.exit_code, "the ranks could not be started"};
    case Cause::cancelled:
      return {Action::stop, outcome.exit_code, "the job was cancelled"};
    case Cause::stopped:
      return {
          Action::stop, outcome.exit_code, "stopped by a signal; `dtsubmit requeue` continues it"};
    case Cause::no_restart:
      return {Action::stop, outcome.exit_code, "the program exited 93: do not restart"};
    case Cause::user_exit:
      return {Action::stop, outcome.exit_code, "the program failed by itself"};
    case Cause::wrong_ranks:
      return {Action::stop, outcome.exit_code, "starting again would give the same ranks"};
    case Cause::fenced:
      return {Action::stop, outcome.exit_code, "a newer attempt owns the run"};
    case Cause::agent_lost:
      return come_back(outcome, now);
  }
  return {Action::stop, 70, "unknown cause"};
}

}  // namespace dts::run
