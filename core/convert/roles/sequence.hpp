// SPDX-License-Identifier: Apache-2.0
// Programs that one shell has to run one after another, as the script's does. Pure.
#pragma once

#include "core/convert/parts.hpp"

#include <optional>
#include <vector>

namespace dts::convert {

// The first part behind what that shell runs: the programs of an array, which cannot have steps, or
// lines that act on a program's exit code. `places`: of the programs in `parts`, all in the
// foreground and on one node. nullopt: steps, or a single program, do as well.
[[nodiscard]] std::optional<std::size_t> end_of_sequence(const std::vector<Part>& parts,
                                                         const std::vector<std::size_t>& places,
                                                         bool is_array);

// A line between or behind the programs that belongs there.
[[nodiscard]] bool is_in_sequence(const Part& part);

}  // namespace dts::convert
