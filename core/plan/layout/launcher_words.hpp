// SPDX-License-Identifier: Apache-2.0
// The options that tell a launcher in the program's command line its place in the job: the number
// of nodes and processes, the rank of its node, and the rendezvous. Options that the user wrote are
// left alone. Pure.
#pragma once

#include "core/plan/plan.hpp"
#include "core/plan/program/own_launcher.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dts::plan {

// The options that `launcher` still needs under `plan`.
[[nodiscard]] std::vector<PlaceOption> place_options_for(const Plan& plan,
                                                         const OwnLauncher& launcher);

// True if these include the number of nodes, the node's rank or the address of the first.
[[nodiscard]] bool lacks_its_place(const Plan& plan, const OwnLauncher& launcher);

// True if these include the number of processes.
[[nodiscard]] bool lacks_its_count(const Plan& plan, const OwnLauncher& launcher);

// True for --machine_rank 1 and the like: the option gives the launcher the rank of its node.
[[nodiscard]] bool knows_its_node(const OwnLauncher& launcher);

// ":29500": the submitting shell has found nothing in `$MASTER_ADDR:29500`. In single quotes,
// nobody replaces it.
[[nodiscard]] bool is_nowhere(std::string_view place, bool is_in_shell);

// Whether a job of `nodes` nodes meets "2" or "MIN:MAX"; true if it is neither.
[[nodiscard]] bool is_met(std::string_view range, unsigned nodes);

// "--hostfile": the option by which a launcher without options for its place is told of all nodes;
// empty: none.
[[nodiscard]] std::string option_for_hosts(const OwnLauncher& launcher);

// "--num_machines=2 --machine_rank=$NODE_RANK": what the user must write if nothing can be
// inserted.
[[nodiscard]] std::string options_to_write(const Plan& plan, const OwnLauncher& launcher);

// "omit --rdzv-backend and add --per-node: ...": what to change in a script so that torchrun takes
// nodes and rendezvous from its variables.
[[nodiscard]] std::string without_place_options(const Plan& plan, const OwnLauncher& launcher);

// False for a command that launchers cannot pass on: mpirun keeps the command line in one variable,
// which the kernel limits to 128 KiB, and MPICH's Hydra (4.0) crashes at more than 64 KiB.
[[nodiscard]] bool fits_launchers(const std::vector<std::string>& command);

// The plan's command as the rank at `placement` must start it; empty: as the launcher passed it on.
[[nodiscard]] std::vector<std::string> command_of_rank(const Plan& plan,
                                                       const OwnLauncher& launcher,
                                                       const Placement& placement,
                                                       const Rendezvous& rendezvous);

}  // namespace dts::plan
