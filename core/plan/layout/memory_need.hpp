// SPDX-License-Identifier: Apache-2.0
// The memory that a job gets on its nodes by its own request or by the site's default, and whether
// the site gives that much. Pure.
#pragma once

#include "core/base/diagnostics.hpp"
#include "core/plan/layout/fit.hpp"

#include <optional>

namespace dts::plan {

struct MemoryNeed {
  enum class Of { node, cpu, gpu, whole_node };
  Of of = Of::whole_node;
  std::uint64_t mib = 0;         // for each of `of`; 0 for a whole node
  const char* option = nullptr;  // of the request; nullptr: the site's default

  // MiB of a node of which the job has so many CPUs and GPUs; 0 for a whole node: it depends on the
  // node.
  [[nodiscard]] std::uint64_t of_node(std::uint64_t cpus, std::uint64_t gpus) const {
    const std::uint64_t count = of == Of::cpu ? cpus : of == Of::gpu ? gpus : 1;
    return of == Of::whole_node ? 0 : mib * count;
  }
};

// nullopt: the site's rules are not known.
[[nodiscard]] std::optional<MemoryNeed> memory_need(const spec::JobSpec& spec,
                                                    const std::optional<MemoryRules>& rules);

// How many of `cpus` CPUs of a node a job can request, given that memory comes with each of them
// and what the partition and the node give; at least 1 unless `cpus` is 0.
[[nodiscard]] unsigned cpus_with_memory(unsigned cpus,
                                        const ClusterView::Node& node,
                                        const spec::JobSpec& spec,
                                        const Fit& fit);

// Appends a problem if `cpus` CPUs of each node come with more memory than the partition or the
// nodes give, or the memory with more CPUs. Otherwise Slurm would refuse the job without naming the
// limit, or accept it and never start it.
void check_memory_need(const spec::JobSpec& spec,
                       const Fit& fit,
                       std::uint64_t cpus,
                       Diagnostics& problems);

}  // namespace dts::plan
