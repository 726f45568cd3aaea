// SPDX-License-Identifier: Apache-2.0
// Which GPUs of a node the entries of CUDA_VISIBLE_DEVICES mean. Pure. Private to core/plan.
#pragma once

#include "core/plan/plan.hpp"

#include <string>
#include <vector>

namespace dts::plan {

// The index in NodeTopology::gpus of each of `ids`, which all ranks of a node were given; empty
// unless all are known. UUIDs are matched against the topology, in full or by a prefix as CUDA
// accepts it: "GPU-8932", "MIG-2e", and "MIG-GPU-8932/7/0" of drivers before 470. Numbers follow
// PCI order if they name all GPUs of the node. If they name only some, they may be relative to the
// job's share (Slurm with ConstrainDevices) and are resolved by Slurm's own list. A GPU appears
// twice only through its MIG instances.
[[nodiscard]] std::vector<unsigned> locate_gpus(const std::vector<std::string>& ids,
                                                const RankHello& hello,
                                                const topo::NodeTopology& node);

// The same for lists that differ from rank to rank: the known GPUs of each rank, ascending. Numbers
// are resolved only if those of all ranks together name every GPU of the node.
[[nodiscard]] std::vector<std::vector<unsigned>> locate_each(
    const std::vector<std::vector<std::string>>& ids_of, const topo::NodeTopology& node);

}  // namespace dts::plan
