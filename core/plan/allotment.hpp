// SPDX-License-Identifier: Apache-2.0
// The processors of a node that a scheduler gave to a job which it does not hold to them. Pure.
#pragma once

#include "core/topo/topology.hpp"

#include <vector>

namespace dts::plan {

struct Allotment {
  std::vector<unsigned> cpus;  // as the scheduler counts, ascending
  unsigned of = 0;             // how many the scheduler says that the node has
};

// Their hardware threads, OS indices, ascending. Slurm counts processors through sockets, cores and
// threads in hwloc's order, whatever the kernel calls them (scontrol(1), CPU_IDs), or cores where
// its node has as many processors as cores. Empty, which is no limit: all of the node is the job's,
// the job is held to a part of it already, or the numbers are not this node's (config_overrides).
[[nodiscard]] std::vector<unsigned> allotted_pus(const topo::NodeTopology& node,
                                                 const Allotment& allotment);

}  // namespace dts::plan
