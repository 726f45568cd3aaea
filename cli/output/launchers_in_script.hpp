// SPDX-License-Identifier: Apache-2.0
// Launchers of processes, such as torchrun, in the shell script that the ranks of a job run. Pure.
#pragma once

#include "core/plan/plan.hpp"

#include <string>
#include <vector>

namespace dts::cli {

// Notes on what they would do in the plan's layout. `name`: the script's, `text`: its content.
[[nodiscard]] std::vector<std::string> notes_on_launchers(const plan::Plan& plan,
                                                          const std::string& name,
                                                          const std::string& text);

}  // namespace dts::cli
