// SPDX-License-Identifier: Apache-2.0
// Sizes of the script's job in the text of a program whose own job has others: the cores of all
// tasks go to the only process that the script starts, so that $SLURM_NTASKS would be 1. Pure.
#pragma once

#include "core/convert/program/program.hpp"

#include <string>
#include <vector>

namespace dts::convert {

// Sizes of the script's job by their variables, as far as they are known.
[[nodiscard]] ScriptSizes sizes_of_job(const Resolver& resolver);

// Those of them that ranks have otherwise, since their launcher was asked for other sizes or they
// are on some of the nodes only. `asked`: of the launcher, by the shell of the script.
[[nodiscard]] ScriptSizes sizes_at_launch(const Settings& asked, const ProgramContext& context);

// Writes them in where the words, or the program, have names of them in shell source.
void write_sizes(std::vector<FlatWord>& words, const ScriptSizes& sizes);
void write_sizes(Program& program, const ScriptSizes& sizes);

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
