// SPDX-License-Identifier: Apache-2.0
// The layout of a job of several programs: of each of them, and of the job that has room for all.
// Pure.
#pragma once

#include "core/plan/plan.hpp"

#include <string>
#include <vector>

namespace dts::plan {

struct Composition {
  Plan job;                 // what the scheduler is asked for
  std::vector<Plan> parts;  // in the order of the steps or roles
};

// Steps share the job's nodes, one after another: the job has as many as the largest of them, and
// with --spares the rest of the job's nodes are spare to each. Roles add up; the job's spares are
// those of the largest. A node of the job has the most cores and GPUs that a part needs on one.
// Roles of a heterogeneous job are its components, in their order, and have what they ask for; the
// plan of the whole then only says how many nodes there are. Every problem at once, those of a part
// with its name.
[[nodiscard]] tl::expected<Composition, Diagnostics> make_composition(const spec::JobSpec& spec,
                                                                      const ClusterView& cluster,
                                                                      const std::string& trainer);

// The nodes of part `index` among all of the job, spare ones included.
[[nodiscard]] std::vector<std::string> nodes_of_part(const std::vector<Plan>& parts,
                                                     bool are_roles,
                                                     std::size_t index,
                                                     const std::vector<std::string>& all);

}  // namespace dts::plan
