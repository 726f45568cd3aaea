// SPDX-License-Identifier: Apache-2.0
// `dtsubmit agent`: the batch script's process. It owns the job from the first attempt to the
// decision after the last: done, restart here, requeue, or stop. For a composed run, it starts one
// such agent per part.
#pragma once

#include "core/base/result.hpp"
#include "core/run/directory/rank_logs.hpp"

#include <optional>
#include <string>

namespace dts::launch {

// For the agent of one part of a composed run. Its caller handles whatever concerns the whole job,
// see ComposedRun.
struct PartOptions {
  bool returns_restarts = false;  // the caller handles restarts, too
};

struct AgentOptions {
  std::string run_directory;  // absolute
  bool local = false;    // `dtsubmit run`: no scheduler, ranks' output also on our standard output
  std::string dtsubmit;  // path of our program, for `rank`
  run::RankSelection shown{};  // shown on standard output if `local`
  std::optional<PartOptions> part{};
};

// Blocks until the run is done, stopped, or the scheduler ends the job. Returns the job's exit
// code. Call it before any thread is started, because it blocks signals.
[[nodiscard]] Result<int> run_agent(const AgentOptions& options);

}  // namespace dts::launch
