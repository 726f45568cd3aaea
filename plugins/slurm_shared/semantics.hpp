// SPDX-License-Identifier: Apache-2.0
// What Slurm does in one release and not in another, as far as a job's agent depends on it. Pure.
#pragma once

#include <string_view>

namespace slurm_plugin {

enum class Fact {
  // A batch script that ends by itself while its job is being preempted with PreemptMode=REQUEUE is
  // requeued, whatever its exit code; before, such a job had ended. A job that is requeued during
  // that time by its own request may be requeued once more after its end.
  restarts_ended_jobs,
  // --requeue=expedite
  expedited_requeue,
};

// `release`: "24.11.5", as the controller reports it. False for one that cannot be read.
[[nodiscard]] bool holds_for(Fact fact, std::string_view release);

}  // namespace slurm_plugin
