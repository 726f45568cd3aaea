// SPDX-License-Identifier: Apache-2.0
// Values that the batch script's shell, on the first node, gives to all ranks, but that each
// rank would compute for itself. Pure.
#pragma once

#include "core/convert/program/program.hpp"

#include <vector>

namespace dts::convert {

// Sizes of the script's job by their variables, as far as they are known and the script leaves them
// as they are.
[[nodiscard]] ScriptSizes sizes_of_job(const lint::Subject& subject, const Resolver& resolver);

// The name of the node on which the script runs becomes that of the master, unless the program runs
// on only some of the nodes. The words are those that the script's shell expands.
void keep_first_node(std::vector<FlatWord>& words, const ProgramContext& context);

// The values in such words, still in the program's, that each rank would compute for itself.
[[nodiscard]] Names own_values(const std::vector<FlatWord>& words);
void note_own_values(const Names& own, Program& program);

// srun(1), EXECUTABLE PATH RESOLUTION: srun looks for the program in PATH and then in the current
// folder, so other launchers need ./train.sh. Empty: the program is in PATH. Where the script
// changes PATH before, $(type -P train.sh || echo ./train.sh).
[[nodiscard]] FlatWord found_in_folder(const std::string& program, const ProgramContext& context);

}  // namespace dts::convert
