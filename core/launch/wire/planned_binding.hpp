// SPDX-License-Identifier: Apache-2.0
// Where one rank should run: planned by the agent, sent to the rank, and compared with what the
// kernel reports. Plain data.
#pragma once

#include "core/plan/plan.hpp"

#include <vector>

namespace dts::launch {

struct PlannedBinding {
  std::vector<unsigned> cpus;  // OS indices of PUs, ascending; empty: not bound
  plan::MemoryPolicy memory;
  unsigned gpus_per_node = 0;  // the job's GPUs on this node, which its ranks there share
  unsigned node_cpus = 0;      // PUs of all ranks of the job on this node; 0: not known

  bool operator==(const PlannedBinding&) const = default;
};

}  // namespace dts::launch
