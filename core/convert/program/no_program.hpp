// SPDX-License-Identifier: Apache-2.0
// Statements that start a program, of which nothing is left that could be run. Pure.
#pragma once

#include "core/convert/program/program.hpp"

namespace dts::convert {

// Says so of srun "$@" without arguments, srun $CMD without CMD, and of what only the script's
// shell can run.
void lose_program(const Item& item, const ProgramContext& context, Program& program);

}  // namespace dts::convert
