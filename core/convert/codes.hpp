// SPDX-License-Identifier: Apache-2.0
// Lines that act on the exit code of an earlier one. Pure.
#pragma once

#include "core/convert/parts.hpp"

#include <cstddef>
#include <vector>

namespace dts::convert {

// Behind a program, such a line is unnecessary if it only ends the script, and lost otherwise. So
// is one before the program of place `last` that acts on the code of a line that only the first of
// many nodes runs.
void lose_exit_codes(std::vector<Part>& parts, std::size_t last, bool has_many_nodes);

}  // namespace dts::convert
