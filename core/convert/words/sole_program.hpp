// SPDX-License-Identifier: Apache-2.0
// Statements in which a script starts a program and only says how it ended. Pure.
#pragma once

#include "core/shell/syntax.hpp"

namespace dts::convert {

// The first command, with its pipeline, of
//   PROGRAM || exit 1
//   PROGRAM && echo done || { echo failed; exit 1; }
//   if PROGRAM; then echo done; else echo failed; exit 1; fi
//   if ! PROGRAM; then echo failed; scontrol requeue $SLURM_JOB_ID; exit 1; fi
// and of PROGRAM alone: what is around it prints, fails as the run of a failing program does, and
// requeues, which dtsubmit does. Null: something else happens behind the program, a failure counts
// as success, or the exit code is one that dtsubmit understands.
[[nodiscard]] const shell::Pipeline* sole_program(const shell::Statement& statement);

}  // namespace dts::convert
