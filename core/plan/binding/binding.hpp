// SPDX-License-Identifier: Apache-2.0
// Which cores, GPUs and network adapters each rank of a node gets. Pure.
#pragma once

#include "core/base/result.hpp"
#include "core/plan/cores/node_binding.hpp"
#include "core/topo/topology.hpp"

#include <string_view>
#include <vector>

namespace dts::plan {

// The request of one rank; the caller sets what differs.
[[nodiscard]] BindRequest request_of(const spec::Bind& bind);

// The best binding of a node under a policy. `automatic` optimises these criteria, most important
// first:
// - every rank has a core and G/n GPUs (if G is not a multiple of n, a warning names those left
//   over; if there are fewer GPUs than ranks, runs of ranks share them)
// - no core is shared, unless there are fewer cores than ranks; then hardware threads are shared by
//   as few as possible
// - ranks have the same number of cores, give or take one, and every core is used
// - the GPUs of a rank are in one package, linked, and behind one switch
// - the rank with the fewest near cores has as many as any such choice of GPUs allows
// - the GPUs of a rank are in one NUMA node and behind one host bridge
// - home cores are near, summed over ranks and their GPUs
// - the rank with the second fewest near cores has the most possible, and so on (max-min fairness)
// - all cores are near, then the home cores of the worst-off rank
// - adapters are near, then evenly loaded
// - ranks span few packages, L3s are not shared, NUMA nodes have few ranks, ranks span few of them
// Ties follow hwloc's and PCI's order, so that the same node always gives the same binding.
// Errc::invalid: no core, an unknown GPU, a PU of `map` that may not be used, or more
// cores_per_rank than there are; all problems at once.
[[nodiscard]] Result<NodeBinding> bind_node(const topo::NodeTopology& topology,
                                            const BindRequest& request);

// True if `a` comes before `b` in the order of bind_node().
[[nodiscard]] bool is_better(const BindingScore& a, const BindingScore& b);

// The scores of `ranks` on this node, whatever policy they come from.
[[nodiscard]] BindingScore score(const topo::NodeTopology& topology,
                                 const std::vector<RankBinding>& ranks);

}  // namespace dts::plan
