// SPDX-License-Identifier: Apache-2.0
// Statements that start a program but leave nothing to run. Pure.
#pragma once

#include "core/convert/program/program.hpp"

namespace dts::convert {

// run_training, not ./prog, python, srun prog, tail or exec prog. It may also be a function of the
// script.
[[nodiscard]] bool may_be_of_file(const lint::Run& run);

// True if `item` calls a function of the script, and no launcher is among the arguments.
[[nodiscard]] bool calls_function(const Item& item, const ProgramContext& context);

// Of a command without a launcher that may be a function of a file that the script has read before:
// keeps it as text for a shell that gets these functions.
void keep_functions(const Item& item, const ProgramContext& context, Program& program);

// Takes arguments that only the script's shell knows from the set-up, if `are_of_set_up`; otherwise
// the program is lost. Notes that those of the script are empty.
void account_for_arguments(const Item& item, bool are_of_set_up, Program& program);

// Reports this for srun "$@" without arguments, srun $CMD without CMD, and commands that only the
// script's shell can run.
void lose_program(const Item& item, const ProgramContext& context, Program& program);

}  // namespace dts::convert
