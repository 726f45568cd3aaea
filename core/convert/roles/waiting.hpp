// SPDX-License-Identifier: Apache-2.0
// What a script waits for: background programs before it ends, lines and pauses. Pure.
#pragma once

#include "core/convert/parts.hpp"

#include <optional>
#include <vector>

namespace dts::convert {

struct Waiting {
  std::vector<bool> is_waited_for;  // for each program; those of the foreground are
};

// True for a line that must run and does more than set variables.
[[nodiscard]] bool is_action(const Part& part);

// `places`: of the programs in `parts`. `acts_there`: lines between a program in the background and
// its `wait` run on its node. nullopt: no program is in the background while another one or such a
// line starts or is waited for, or programs start after the script has waited for others.
[[nodiscard]] std::optional<Waiting> waiting_in(const std::vector<Part>& parts,
                                                const std::vector<std::size_t>& places,
                                                bool acts_there);

// The first part that is not run beside programs any more: those in the background go on beside the
// lines behind them, until one waits.
[[nodiscard]] std::size_t end_beside(const std::vector<Part>& parts,
                                     const std::vector<std::size_t>& places);

// For lines before `end`: pauses behind what starts something, such as a server, stay.
void keep_pauses(std::vector<Part>& parts, std::size_t end);

// The same for a `wait` behind lines of the set-up in the background, such as cp a b &, which have
// to be done before the program starts.
void keep_waits(std::vector<Part>& parts, std::size_t end);

}  // namespace dts::convert
