// SPDX-License-Identifier: Apache-2.0
// Names and numbers that a script makes once, and the set-ups of a job each for themselves. Pure.
#pragma once

#include "core/convert/parts.hpp"

#include <vector>

namespace dts::convert {

// Programs are lost that use a name of mktemp which each step would make for itself, or, in jobs of
// many nodes, one of mktemp or $$ in a shared folder, which each node would. `places`: of the
// programs in `parts`.
void lose_made_names(const std::vector<Part>& parts,
                     std::vector<Program>& programs,
                     const std::vector<std::size_t>& places,
                     bool has_many_nodes);

// Programs are lost if several roles use a value that the set-up of each draws or looks for anew,
// such as a free port: shuf, ss.
void lose_values_of_roles(const std::vector<Part>& parts, std::vector<Program>& programs);

}  // namespace dts::convert
