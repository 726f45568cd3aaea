// SPDX-License-Identifier: Apache-2.0
// What is done after an attempt. Pure.
#pragma once

#include <optional>
#include <string_view>

namespace dts::run {

enum class Action {
  done,      // the run is complete
  stop,      // the run ends here, incomplete
  restart,   // the next attempt, in this allocation
  requeue,   // ask the scheduler to run the job again
  resubmit,  // a successor under a new job id
  wait,      // the scheduler is already requeueing the job
};

[[nodiscard]] const char* to_string(Action action);
[[nodiscard]] std::optional<Action> action_from(std::string_view text);

// True for done and stop, after which nothing follows.
[[nodiscard]] constexpr bool ends_run(Action action) {
  return action == Action::done || action == Action::stop;
}

}  // namespace dts::run
