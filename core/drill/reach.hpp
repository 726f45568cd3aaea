// SPDX-License-Identifier: Apache-2.0
// Acts on the nodes of a job from where the drill is started.
#pragma once

#include "core/drill/victims.hpp"
#include "core/sched/scheduler.hpp"

#include <string>
#include <vector>

namespace dts::drill {

// The attempt to drill.
struct Target {
  run::RunDirectory run{};
  sched::Scheduler* scheduler = nullptr;  // null: `dtsubmit run` on this machine
  sched::JobId job{};
  unsigned attempt = 0;
  std::vector<std::string> nodes{};  // of its allocation
  unsigned rank = 0;                 // the rank whose program is the victim
};

// Acts on all `nodes`, in an additional step of `job` (srun --overlap, Slurm 20.11 and later) or on
// this machine, and returns the number of processes that were affected. Errors: not_found (no
// srun), rejected (with srun's message), interrupted.
[[nodiscard]] Result<unsigned> act_on(const Target& target,
                                      const std::vector<std::string>& nodes,
                                      Act act);

// `dtsubmit drill-act`, the program of this step: prints the number.
[[nodiscard]] Result<int> run_act(const Target& target, Act act);

}  // namespace dts::drill
