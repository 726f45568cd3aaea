// SPDX-License-Identifier: Apache-2.0
// Finds the GPUs that the entries of CUDA_VISIBLE_DEVICES denote. Pure. Private to core/plan.
#pragma once

#include "core/plan/plan.hpp"

#include <string>
#include <vector>

namespace dts::plan {

// The index in NodeTopology::gpus of each of `ids`, the list that all ranks of a node were given.
// Empty unless all entries are known. UUIDs are matched against the topology, in full or by a
// prefix, as CUDA accepts it: "GPU-8932", "MIG-2e", and for drivers before 470 "MIG-GPU-8932/7/0".
// Numbers follow PCI order if they cover all GPUs of the node. If they cover only some, they may be
// relative to the job's share (Slurm with ConstrainDevices), and are resolved by Slurm's own list.
// A GPU can appear twice only through its MIG instances.
[[nodiscard]] std::vector<unsigned> locate_gpus(const std::vector<std::string>& ids,
                                                const RankHello& hello,
                                                const topo::NodeTopology& node);

// The same for lists that differ from rank to rank: the known GPUs of each rank, ascending. Numbers
// are resolved only if those of all ranks together cover every GPU of the node.
[[nodiscard]] std::vector<std::vector<unsigned>> locate_each(
    const std::vector<std::vector<std::string>>& ids_of, const topo::NodeTopology& node);

}  // namespace dts::plan
