// SPDX-License-Identifier: Apache-2.0
// The statements that do a job's work although they are neither started by a launcher nor Python
// scripts. Pure.
#pragma once

#include "core/convert/parts.hpp"

#include <vector>

namespace dts::convert {

// Marks those of `parts` that do the job's work as programs. `is_one_node`: the job has one node.
void choose_programs(std::vector<Part>& parts, bool is_one_node);

}  // namespace dts::convert
