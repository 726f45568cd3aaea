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

// The text with these values in place of $NAME, ${NAME}, ${NAME:-x} and names in $((...)), ((...))
// and comparisons of [[ ]]. Not in what it writes for other jobs.
[[nodiscard]] std::string with_script_sizes(const std::string& text, const ScriptSizes& sizes);

// A loss, or a note, for each size that `text`, of with_script_sizes(), still has: the shells of
// the program's job have another.
void note_left_sizes(const std::string& text, Program& program);

}  // namespace dts::convert
