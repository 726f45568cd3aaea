// SPDX-License-Identifier: Apache-2.0
// Sizes of the script's job in the text of a program whose own job has others: the cores of all
// tasks go to the only process that the script starts, so that $SLURM_NTASKS would be 1. Pure.
#pragma once

#include "core/convert/program/program.hpp"

#include <string>

namespace dts::convert {

// Finds what the script's shell has in SLURM_NTASKS and the like where the program's job has
// something else (Program::sizes), and writes it into the program. `draft`: the script's options.
void settle_sizes(Program& program, const Draft& draft, const Resolver& resolver);

// The text with these values in place of $NAME, ${NAME}, ${NAME:-x} and names in $((...)).
[[nodiscard]] std::string with_script_sizes(const std::string& text, const ScriptSizes& sizes);

}  // namespace dts::convert
