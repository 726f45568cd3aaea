// SPDX-License-Identifier: Apache-2.0
// Sizes of the script's job, $SLURM_NTASKS and the like, in texts for shells that have others:
// where the cores of all tasks go to the only process that the script starts, and in steps and
// roles. Pure.
#pragma once

#include "core/convert/program/program.hpp"

#include <string>
#include <vector>

namespace dts::convert {

// Those whose value in a rank differs from that in the script's shell. `asked`: what the launcher's
// options request.
[[nodiscard]] ScriptSizes sizes_at_launch(const Settings& asked, const ProgramContext& context);

// Writes them in where the words have shell source.
void write_sizes(std::vector<FlatWord>& words, const ScriptSizes& sizes);

// Of a text, what its own shell expands.
void write_launch_sizes(const ScriptSizes& sizes, Program& program);

// The same for a role, whose own sizes differ from the job's, and for its words.
void write_sizes_of_role(Program& program, const ScriptSizes& sizes);

// A text of the set-up or tear-down with those of the program.
[[nodiscard]] std::string with_all_sizes(const std::string& text, const Program& program);

// Finds what the script's shell has in SLURM_NTASKS and the like where the program's job has
// something else (Program::sizes), and writes it into the program. `draft`: the script's options.
void settle_sizes(Program& program, const Draft& draft, const ProgramContext& context);

// The text with these values in place of $NAME, ${NAME}, ${NAME:-x} and names in $((...)), ((...))
// and comparisons of [[ ]]. Not in what it writes for other jobs.
// `of_shell`: only what the text's own shell expands, not what is in single quotes, or in a
// here-document of a quoted word.
[[nodiscard]] std::string with_script_sizes(const std::string& text,
                                            const ScriptSizes& sizes,
                                            bool of_shell = false);

// A loss, or a note, for each size that `text`, of with_script_sizes(), still has: the shells of
// the program's job have another.
void note_left_sizes(const std::string& text, Program& program);

}  // namespace dts::convert
