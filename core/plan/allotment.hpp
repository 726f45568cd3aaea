// SPDX-License-Identifier: Apache-2.0
// The processors that a scheduler gave a job without confining the job to them. Pure.
#pragma once

#include "core/topo/topology.hpp"

#include <vector>

namespace dts::plan {

struct Allotment {
  std::vector<unsigned> cpus;  // as the scheduler counts, ascending
  unsigned of = 0;             // the node's processors according to the scheduler
};

// The OS indices of the allotted hardware threads, ascending. Slurm numbers processors through
// sockets, cores and threads in hwloc's order, regardless of the kernel's numbers (scontrol(1),
// CPU_IDs). If a node has as many processors as cores, Slurm numbers its cores. An empty result
// means no limit: the job has the whole node, it is already confined to its part, or the numbers do
// not match this node (config_overrides).
[[nodiscard]] std::vector<unsigned> allotted_pus(const topo::NodeTopology& node,
                                                 const Allotment& allotment);

}  // namespace dts::plan
