// SPDX-License-Identifier: Apache-2.0
// Lines that act on the exit code of an earlier one. Pure.
#pragma once

#include "core/convert/parts.hpp"

#include <cstddef>
#include <vector>

namespace dts::convert {

// After a program, such a line is unnecessary if it only ends the script, and lost otherwise. In
// jobs of many nodes, a line before the last program, whose place is `last`, is lost if it acts on
// the code of a line that only the first node runs.
void lose_exit_codes(std::vector<Part>& parts, std::size_t last, bool has_many_nodes);

}  // namespace dts::convert
