// SPDX-License-Identifier: Apache-2.0
// The layouts of a job's programs, and the layout of a job that has room for all of them. Pure.
#pragma once

#include "core/plan/plan.hpp"

#include <string>
#include <vector>

namespace dts::plan {

struct Composition {
  Plan job;                 // what is requested from the scheduler
  std::vector<Plan> parts;  // in the order of the steps or roles
};

// Steps share the job's nodes, one after another: the job has as many nodes as its largest step,
// and with --spares each step treats the nodes that it does not use as spare nodes. Roles add up,
// and the job has as many spare nodes as the role with the most. Each node of the job has as many
// cores and GPUs as the most demanding part needs per node, or roles that share nodes need
// together. Roles of a heterogeneous job are its components, in order, and get what they request;
// the plan of the whole then only gives the number of nodes. Reports every problem at once, with
// the name of the part that has it.
[[nodiscard]] tl::expected<Composition, Diagnostics> make_composition(const spec::JobSpec& spec,
                                                                      const ClusterView& cluster,
                                                                      const std::string& trainer);

// For roles that all run on one machine, without a scheduler: each gets the GPUs behind those of
// the roles before it, as on nodes that they share. Cores are not divided, unless all of them share
// nodes by their own wish.
void put_on_one_machine(Composition& made);

// The nodes of part `index`, spare nodes included; `all` are the job's.
[[nodiscard]] std::vector<std::string> nodes_of_part(const std::vector<Plan>& parts,
                                                     bool are_roles,
                                                     std::size_t index,
                                                     const std::vector<std::string>& all);

}  // namespace dts::plan
