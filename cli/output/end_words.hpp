// SPDX-License-Identifier: Apache-2.0
// Handles disagreement between the scheduler's record of an ended job and the run's own last
// record. Pure.
#pragma once

#include "core/run/ledger/ledger.hpp"
#include "core/sched/scheduler.hpp"

#include <optional>
#include <string>
#include <vector>

namespace dts::cli {

// Empty, or a sentence without a full stop: the run is done, but the scheduler has another state
// for its job. Slurm does this once the kernel has killed a process of the batch step for lack of
// memory, whatever the job did afterwards. Jobs that depend on it by afterok then never start.
[[nodiscard]] std::string words_of_other_state(const std::vector<run::Event>& events,
                                               const sched::JobInfo& job,
                                               const std::string& scheduler);

// The exit code of an ended job, for a command that waited for it. `decided` is the code in the
// ledger's last record; a run that is done counts as done, whatever the state of the job.
[[nodiscard]] int exit_code_of_end(const sched::JobInfo& job, std::optional<int> decided);

}  // namespace dts::cli
