// SPDX-License-Identifier: Apache-2.0
// Ways to give the GPUs of a node to its ranks. Pure.
#pragma once

#include "core/plan/binding.hpp"

namespace dts::plan {

// One way: the GPUs of each rank, and numbers that say how good it can be at best, whatever cores
// the other ranks take.
struct GpuGroups {
  std::vector<std::vector<unsigned>> of_rank;  // each ascending; ranks in the order of their first
  double home_distance = 0;                    // as BindingScore counts
  double mean_distance = 0;
  unsigned linked = 0;
};

struct GpuChoices {
  std::vector<GpuGroups> ways;  // the most promising first; never empty
  bool all = true;              // false: there are more, which were not looked at
};

// The ways to give each of `ranks` ranks as many of `gpus` as the others, or, with fewer GPUs than
// ranks, each GPU to as many as the others or one more. GPUs that are alike to every core and to
// every other GPU are told apart by their order only. At most some thousand ways are looked at,
// those of GPUs that are near each other and linked first. `most_cores`: of each rank.
[[nodiscard]] GpuChoices gpu_choices(const topo::NodeTopology& topology,
                                     const std::vector<unsigned>& gpus,
                                     unsigned ranks,
                                     unsigned most_cores = 1U << 30);

// Runs in PCI's order, whatever is near: G/n each, or GPU i*G/n for rank i.
[[nodiscard]] std::vector<std::vector<unsigned>> gpu_runs(const std::vector<unsigned>& gpus,
                                                          unsigned ranks);

}  // namespace dts::plan
