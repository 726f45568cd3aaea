// SPDX-License-Identifier: Apache-2.0
// The number of a program's ranks in the script, as options of dtsubmit. Pure.
#pragma once

#include "core/convert/program/program.hpp"

namespace dts::convert {

// Completes the program's settings, and notes in `dropped` those of the job that mean nothing for a
// program that is started in this way. `starts_processes`: as torchrun does, one for each GPU.
// `is_beside_others`: other programs of the script are started on all nodes.
void settle_layout(Program& program,
                   Draft& draft,
                   const lint::Job& job,
                   bool starts_processes,
                   bool is_recognised,
                   bool is_beside_others);

// An option of the job that all `programs` dropped is taken back; one that only some dropped
// becomes a setting of each of the others. `are_roles`: each program has a number of ranks of its
// own.
void settle_dropped(std::vector<Program>& programs, bool are_roles, Draft& draft);

}  // namespace dts::convert
