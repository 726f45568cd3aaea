// SPDX-License-Identifier: Apache-2.0
// What happens after an attempt: a pure function of how it ended and of the run's history.
#pragma once

#include "core/run/cause.hpp"

#include <optional>
#include <string>

namespace dts::run {

enum class Action {
  done,     // the run is complete
  stop,     // the run ends here, incomplete
  restart,  // the next attempt, in this allocation
  requeue,  // ask the scheduler to run the job again
  wait,     // the scheduler is requeueing the job already
};

[[nodiscard]] const char* to_string(Action action);

struct Outcome {
  Cause cause = Cause::launch_failed;
  int exit_code = 1;               // of the first rank that failed, or 85, or 0
  std::string detail;              // one sentence for people: which rank, where
  std::optional<unsigned> rank{};  // the first that failed, where one did
};

struct Circumstances {
  bool in_scheduler = false;      // false: `dtsubmit run`
  bool may_requeue = true;        // --requeue
  bool already_requeued = false;  // the job's state is pending again
  unsigned crashes = 0;           // attempts so far, this one included, that ended by a crash
  unsigned launch_failures = 0;   // likewise for launch_failed
  unsigned without_progress = 0;  // crashes in a row, this one included, that saved nothing new
};

struct Decision {
  Action action = Action::stop;
  int exit_code = 1;  // of the agent, so of the job, where the action is done or stop
  std::string why;
};

// Budgets: 3 crashes, 2 launch failures, 2 crashes in a row without a new checkpoint (the numbers
// are those of NVIDIA's resiliency extension and TorchX users; see reliability of such loops, F46).
[[nodiscard]] Decision decide(const Outcome& outcome, const Circumstances& now);

}  // namespace dts::run
