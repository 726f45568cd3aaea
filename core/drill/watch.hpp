// SPDX-License-Identifier: Apache-2.0
// The fate of a run after a fault, from its ledger and its metrics.
#pragma once

#include "core/drill/reach.hpp"
#include "core/drill/verdict.hpp"

#include <chrono>
#include <functional>
#include <optional>

namespace dts::drill {

// The newest attempt of the run, whose programs are running. Errc::invalid, with the run's actual
// state, otherwise. `rank` nullopt: the last one.
[[nodiscard]] Result<Target> find_target(const run::RunDirectory& run,
                                         sched::Scheduler* scheduler,
                                         std::optional<unsigned> rank);

// One clock for all times.
using Clock = std::chrono::steady_clock;

// Whether an agent still works on a run.
class Ending {
 public:
  explicit Ending(sched::Scheduler* scheduler) : scheduler_(scheduler) {}

  // True once the run's last record is its end, or the newest job of its ledger has been over for a
  // while: then no agent will write to the ledger any more. Asks the scheduler every 2 s.
  [[nodiscard]] bool seen(const std::vector<run::Event>& events);

 private:
  sched::Scheduler* scheduler_;
  Clock::time_point next_question_{};
  std::optional<Clock::time_point> over_since_{};
};

// Waits until a later attempt has done a step that counts (if the program reports none: until one
// of its ranks has written to its log, a checkpoint is new, or it has completed), the run has
// ended, or `limit` has passed; then counts the target's remaining processes. `by_hand` is called
// once to continue the run, when none of the attempt's processes is left and the run has not
// resumed. Without it, a job that is over without a recorded end also ends the watch. Errors:
// interrupted, and those of the ledger.
[[nodiscard]] Result<Shown> watch(const Target& target,
                                  Fault fault,
                                  Clock::time_point since,
                                  Clock::duration limit,
                                  const std::function<Result<void>()>& by_hand);

// The same for an attempt that must continue: until it has done three more steps.
[[nodiscard]] Result<Shown> watch_going_on(const Target& target,
                                           Fault fault,
                                           Clock::time_point since,
                                           Clock::duration limit);

// What the ledger holds at one moment, and what follows from it.
struct Story {
  std::vector<run::Event> events;
  run::RunSummary summary;
};

[[nodiscard]] Result<Story> read_story(const run::RunDirectory& run);

}  // namespace dts::drill
