// SPDX-License-Identifier: Apache-2.0
// The options that give a launcher in the program's words its place: how many nodes and processes,
// which node this is, and where they meet. Those that the user wrote stay as they are. Pure.
#pragma once

#include "core/plan/plan.hpp"
#include "core/plan/program/own_launcher.hpp"

#include <string>
#include <vector>

namespace dts::plan {

// The options that `launcher` still needs under `plan`.
[[nodiscard]] std::vector<ToldOption> options_to_tell(const Plan& plan,
                                                      const OwnLauncher& launcher);

// "--num_machines=2 --machine_rank=$NODE_RANK": what to write where nothing can be inserted.
[[nodiscard]] std::string options_to_write(const Plan& plan, const OwnLauncher& launcher);

// The plan's command as the rank at `placement` has to start it; empty: as it is.
[[nodiscard]] std::vector<std::string> command_of_rank(const Plan& plan,
                                                       const OwnLauncher& launcher,
                                                       const Placement& placement,
                                                       const Rendezvous& rendezvous);

}  // namespace dts::plan
