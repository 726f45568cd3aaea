// SPDX-License-Identifier: Apache-2.0
// What becomes of a run after a fault, according to its ledger and its metrics.
#pragma once

#include "core/drill/reach.hpp"
#include "core/drill/verdict.hpp"

#include <chrono>
#include <functional>
#include <optional>

namespace dts::drill {

// The latest attempt of the run, whose programs must be running; otherwise Errc::invalid with the
// run's actual state. `rank` nullopt: the last rank.
[[nodiscard]] Result<Target> find_target(const run::RunDirectory& run,
                                         sched::Scheduler* scheduler,
                                         std::optional<unsigned> rank);

// The clock for all times.
using Clock = std::chrono::steady_clock;

// Detects that no agent works on a run any more.
class Ending {
 public:
  explicit Ending(sched::Scheduler* scheduler) : scheduler_(scheduler) {}

  // True once the run's last record is its end, or the latest job in its ledger has been over for a
  // while, so that no agent will write to the ledger any more. Asks the scheduler every 2 s.
  [[nodiscard]] bool seen(const std::vector<run::Event>& events);

 private:
  sched::Scheduler* scheduler_;
  Clock::time_point next_question_{};
  std::optional<Clock::time_point> over_since_{};
};

// Waits until a later attempt has done a step that counts (if the program reports no steps: until
// one of its ranks has written to its log, there is a new checkpoint, or it has completed), the run
// has ended, or `limit` has passed; then counts the target's remaining processes. `by_hand` is
// called once to continue the run, when none of the attempt's processes is left and the run has not
// resumed. If there is no `by_hand`, a job that is over without a recorded end also ends the watch.
// Errors: interrupted, and those of the ledger.
[[nodiscard]] Result<Shown> watch(const Target& target,
                                  Fault fault,
                                  Clock::time_point since,
                                  Clock::duration limit,
                                  const std::function<Result<void>()>& by_hand);

// The same for an attempt that must survive the fault: waits until it has done three more steps.
[[nodiscard]] Result<Shown> watch_survival(const Target& target,
                                           Fault fault,
                                           Clock::time_point since,
                                           Clock::duration limit);

// The content of the ledger at one moment, and what follows from it.
struct RunView {
  std::vector<run::Event> events;
  run::RunSummary summary;
};

[[nodiscard]] Result<RunView> read_story(const run::RunDirectory& run);

}  // namespace dts::drill
