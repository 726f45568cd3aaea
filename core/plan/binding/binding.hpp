// SPDX-License-Identifier: Apache-2.0
// Which cores, GPUs and network adapters each rank of a node gets. Pure.
#pragma once

#include "core/base/result.hpp"
#include "core/plan/cores/node_binding.hpp"
#include "core/topo/topology.hpp"

#include <string_view>
#include <vector>

namespace dts::plan {

// For one rank, until more is said.
[[nodiscard]] BindRequest request_of(const spec::Bind& bind);

// The best binding of a node under a policy. `automatic` is, in this order: every rank has a core
// and as many GPUs as the others, G/n (G not a multiple of n: those left over are named in a
// warning; fewer GPUs than ranks: shared by runs of ranks), and no core is shared unless there are
// fewer than ranks; ranks have the same number of cores, or one more; every core is used; the GPUs
// of a rank are in one package, linked, behind one switch; the rank with the fewest near cores has
// as many as any such choice of GPUs can give it; the GPUs of a rank are in one NUMA node, behind
// one host bridge; home cores are near, in sum over ranks and their GPUs; the rank
// with the second fewest near cores has as many as can be, and so on (max-min fairness); all cores
// are near; home cores of the rank that has it worst are near; adapters are
// near, then evenly loaded; ranks lie in few packages; L3s are not shared; NUMA nodes have few
// ranks, and ranks few NUMA nodes; the rest follows hwloc's and PCI's order, so that the same node
// gives the same binding. Errc::invalid: no core, an unknown GPU, a PU of `map` that may not be
// used, more cores_per_rank than there are; all problems at once.
[[nodiscard]] Result<NodeBinding> bind_node(const topo::NodeTopology& topology,
                                            const BindRequest& request);

// True where `a` comes before `b` in the order of bind_node().
[[nodiscard]] bool is_better(const BindingScore& a, const BindingScore& b);

// The scores of `ranks` on this node, whatever policy they come from.
[[nodiscard]] BindingScore score(const topo::NodeTopology& topology,
                                 const std::vector<RankBinding>& ranks);

}  // namespace dts::plan
