// SPDX-License-Identifier: Apache-2.0
// Programs that have to be run one after another by a single shell, as the script runs them. Pure.
#pragma once

#include "core/convert/parts.hpp"

#include <optional>
#include <vector>

namespace dts::convert {

// Where the lines that this shell runs end: the index of the first part behind them. It is needed
// for the programs of an array job, which cannot have steps, and for lines that act on a program's
// exit code. nullopt: it is not needed. `places`: where the programs are in `parts`; all run in the
// foreground on one node.
[[nodiscard]] std::optional<std::size_t> end_of_sequence(const std::vector<Part>& parts,
                                                         const std::vector<std::size_t>& places,
                                                         bool is_array);

// True for a line between or behind the programs that this shell runs as well.
[[nodiscard]] bool is_in_sequence(const Part& part);

}  // namespace dts::convert
