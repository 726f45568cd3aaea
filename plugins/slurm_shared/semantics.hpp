// SPDX-License-Identifier: Apache-2.0
// Behaviour that differs between Slurm's releases, as far as a job's agent depends on it. Pure.
#pragma once

#include <string_view>

namespace slurm_plugin {

enum class Fact {
  // If a batch script ends by itself while its job is being preempted with PreemptMode=REQUEUE, the
  // job is requeued, whatever the exit code; earlier releases ended it. A job that requeues itself
  // during that time may be requeued once more after its end.
  restarts_ended_jobs,
  // --requeue=expedite
  expedited_requeue,
};

// `release` is "24.11.5", as the controller reports it. False if it cannot be parsed.
[[nodiscard]] bool holds_for(Fact fact, std::string_view release);

}  // namespace slurm_plugin
