// SPDX-License-Identifier: Apache-2.0
// `dtsubmit agent`: the process of the batch script. It owns the job from the first attempt to the
// decision after the last one: done, restart here, requeue, or stop. For a composed run, it starts
// one such agent per part.
#pragma once

#include "core/base/result.hpp"
#include "core/run/directory/rank_logs.hpp"

#include <optional>
#include <string>

namespace dts::launch {

// Set for the agent of one part of a composed run, whose caller handles all that concerns the whole
// job, see ComposedRun.
struct PartOptions {
  bool returns_restarts = false;  // the caller handles restarts as well
  int unwritten_fd = -1;          // takes a line for each event that is not in the ledger; -1: none
};

struct AgentOptions {
  std::string run_directory;   // absolute
  bool local = false;          // `dtsubmit run`: no scheduler; the ranks' output is shown, too
  std::string dtsubmit;        // path of our program, which also runs ranks
  run::RankSelection shown{};  // ranks whose output is shown if `local`
  std::optional<PartOptions> part{};
};

// Blocks until the run is done or stopped, or the scheduler ends the job. Returns the job's exit
// code. Call it before any thread is started, because it blocks signals.
[[nodiscard]] Result<int> run_agent(const AgentOptions& options);

}  // namespace dts::launch
