// SPDX-License-Identifier: Apache-2.0
// The faults of a fire drill, and the required outcome of each. Pure.
#pragma once

#include "core/run/event/cause.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace dts::drill {

enum class Fault { preempt, timeout, rank_kill, agent_kill, hang, slow, disk_full, node_loss };

struct FaultFacts {
  Fault fault;
  const char* name;       // as on the command line
  const char* of_a_job;   // the effect on a user's job
  const char* on_ground;  // the effect on a private cluster; null: the same
  std::vector<run::Cause>
      causes;    // of the attempt's end, whichever of several observers reports first
  bool warned;   // the programs are warned in time: nothing may be lost
  bool by_hand;  // only `dtsubmit requeue` continues the run: the agent cannot
  bool needs_scheduler;
};

// In the order used by `all`: faults that harm the cluster itself come last.
[[nodiscard]] const std::vector<FaultFacts>& all_faults();
[[nodiscard]] const FaultFacts& facts_of(Fault fault);
[[nodiscard]] std::optional<Fault> fault_from(std::string_view name);

}  // namespace dts::drill
