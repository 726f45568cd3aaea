// SPDX-License-Identifier: Apache-2.0
// The totals of what a job requests. Pure, thread-safe.
#pragma once

#include "core/plan/plan.hpp"
#include "core/spec/job_spec.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dts::forecast {

struct Size {
  unsigned nodes = 0;  // including spares
  unsigned spares = 0;
  unsigned ranks = 0;
  std::uint64_t cores = 0;                         // of all ranks; on spare nodes, as many per node
  unsigned gpus = 0;                               // on all nodes
  std::map<std::string, unsigned> gpus_by_type{};  // those requested with the site's name of a type
  std::uint64_t memory_mib = 0;                    // on all nodes, as far as requested
  unsigned nodes_with_all_memory = 0;              // --mem=0
  unsigned nodes_by_default = 0;                   // nodes that get the site's default memory
};

// The memory per node in MiB that the job requests by any option; 0: all of it; nullopt: the site's
// default.
[[nodiscard]] std::optional<std::uint64_t> memory_a_node(const spec::JobSpec& spec,
                                                         const plan::Plan& plan);

// The size of the whole job. `parts` are the plans of its steps or roles. A heterogeneous job
// requests the sum of its roles.
[[nodiscard]] Size size_of(const spec::JobSpec& spec,
                           const plan::Plan& plan,
                           const std::vector<plan::Plan>& parts);

}  // namespace dts::forecast
