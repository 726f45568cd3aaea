// SPDX-License-Identifier: Apache-2.0
// What lines of a script share as lines of one shell, and programs and tear-down, which have shells
// of their own, do not: the shell's number and the variables of programs. Pure.
#pragma once

#include "core/convert/parts.hpp"

#include <cstddef>
#include <vector>

namespace dts::convert {

// Traps that do more than end or requeue the job are lost: those of the set-up's shell go with it.
void lose_traps(std::vector<Part>& parts);

// Programs, and lines behind them, are lost if they use $$ and another of the job's shells does,
// too, or a variable that only the statement of an earlier program sets. Lines that the script runs
// once, and the set-up of each step again, are marked. `places`: of the programs in `parts`.
void settle_own_shells(std::vector<Part>& parts,
                       std::vector<Program>& programs,
                       const std::vector<std::size_t>& places,
                       bool has_many_nodes);

// Lines that the script runs while its last program does: a tear-down runs behind it.
void lose_lines_beside(std::vector<Part>& parts, const std::vector<std::size_t>& places);

}  // namespace dts::convert
