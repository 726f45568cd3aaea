// SPDX-License-Identifier: Apache-2.0
// Values that the shell of a batch script, on its first node, gives to all ranks, and that each
// rank would have of its own. Pure.
#pragma once

#include "core/convert/program/program.hpp"

#include <vector>

namespace dts::convert {

// The name of the node on which the script runs becomes that of the master, unless the program is
// only on some of the nodes. The words are those that the script's shell expands.
void keep_first_node(std::vector<FlatWord>& words, const ProgramContext& context);

// What ranks would see of their own in such words, of those that are still in the program's.
[[nodiscard]] Names own_values(const std::vector<FlatWord>& words);
void note_own_values(const Names& own, Program& program);

// srun(1), EXECUTABLE PATH RESOLUTION: srun looks for the program in the current folder as well as
// in PATH, so that it has to be named "./train.sh" for others.
[[nodiscard]] bool is_found_in_folder(const std::string& program, const ProgramContext& context);

}  // namespace dts::convert
