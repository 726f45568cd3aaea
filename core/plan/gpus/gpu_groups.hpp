// SPDX-License-Identifier: Apache-2.0
// Ways to assign the GPUs of a node to its ranks. Pure.
#pragma once

#include "core/plan/cores/node_binding.hpp"
#include "core/topo/topology.hpp"

namespace dts::plan {

// One way: the GPUs of each rank, and bounds for its quality, whatever cores the other ranks take.
struct GpuGroups {
  std::vector<std::vector<unsigned>> of_rank;  // each ascending; ranks ordered by their first GPU
  std::vector<unsigned> near_cores;            // as BindingScore counts
  double home_distance = 0;
  double mean_distance = 0;
};

struct GpuChoices {
  std::vector<GpuGroups> ways;  // the most promising first; never empty
  bool all = true;              // false: not all ways were examined
};

// The ways to give each of `ranks` ranks the same number of `gpus`, those of a rank as near each
// other as possible (GpusApart). With fewer GPUs than ranks, each GPU gets the same number of
// ranks, or one more. At most some hundred ways are examined. `most_cores`: the maximum of each
// rank.
[[nodiscard]] GpuChoices gpu_choices(const topo::NodeTopology& topology,
                                     const std::vector<unsigned>& gpus,
                                     unsigned ranks,
                                     unsigned most_cores = 1U << 30);

// Runs in PCI order, regardless of distances: G/n GPUs each, or for rank i the GPU i*G/n.
[[nodiscard]] std::vector<std::vector<unsigned>> gpu_runs(const std::vector<unsigned>& gpus,
                                                          unsigned ranks);

}  // namespace dts::plan
