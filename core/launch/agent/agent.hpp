// SPDX-License-Identifier: Apache-2.0
// `dtsubmit agent`: the batch script's process. It owns the job from the first attempt to the
// decision after the last: done, once more here, back into the queue, or stop.
#pragma once

#include "core/base/result.hpp"
#include "core/run/directory/rank_logs.hpp"

#include <string>

namespace dts::launch {

struct AgentOptions {
  std::string run_directory;   // absolute
  bool local = false;          // `dtsubmit run`: no scheduler, ranks also on our standard output
  std::string dtsubmit;        // our program's path, for `rank`
  run::RankSelection shown{};  // on standard output where `local`
};

// Blocks until the run is done, stopped, or the scheduler ends the job. The value is the job's exit
// code. Must be called before any thread was started (it blocks signals).
[[nodiscard]] Result<int> run_agent(const AgentOptions& options);

}  // namespace dts::launch
