// SPDX-License-Identifier: Apache-2.0
// Ways to give the GPUs of a node to its ranks. Pure.
#pragma once

#include "core/plan/cores/node_binding.hpp"
#include "core/topo/topology.hpp"

namespace dts::plan {

// One way: the GPUs of each rank, and numbers that say how good it can be at best, whatever cores
// the other ranks take.
struct GpuGroups {
  std::vector<std::vector<unsigned>> of_rank;  // each ascending; ranks in the order of their first
  std::vector<unsigned> near_cores;            // as BindingScore counts
  double home_distance = 0;
  double mean_distance = 0;
};

struct GpuChoices {
  std::vector<GpuGroups> ways;  // the most promising first; never empty
  bool all = true;              // false: there are more, which were not looked at
};

// The ways to give each of `ranks` ranks as many of `gpus` as the others, those of one rank as near
// each other as can be (GpusApart), or, with fewer GPUs than ranks, each GPU to as many as the
// others or one more. At most some hundred ways are looked at. `most_cores`: of each rank.
[[nodiscard]] GpuChoices gpu_choices(const topo::NodeTopology& topology,
                                     const std::vector<unsigned>& gpus,
                                     unsigned ranks,
                                     unsigned most_cores = 1U << 30);

// Runs in PCI's order, whatever is near: G/n each, or GPU i*G/n for rank i.
[[nodiscard]] std::vector<std::vector<unsigned>> gpu_runs(const std::vector<unsigned>& gpus,
                                                          unsigned ranks);

}  // namespace dts::plan
