// SPDX-License-Identifier: Apache-2.0
// Lines of a script around programs that it starts at the same time: what roles would do
// differently, whose set-ups run at the same time and whose programs end by themselves. Pure.
#pragma once

#include "core/convert/parts.hpp"

#include <cstddef>
#include <vector>

namespace dts::convert {

// True if a line before `end` may have to be run once: rm -rf out, mkdir out, ./prepare. What only
// changes the shell, and mkdir -p, may be run by several set-ups at the same time.
[[nodiscard]] bool prepares_once(const std::vector<Part>& parts, std::size_t end);

// kill $SERVER, trap 'kill $SERVER' EXIT
[[nodiscard]] bool ends_programs(const std::vector<Part>& parts);

// RANK=$r WORLD_SIZE=2 srun ..., export MASTER_ADDR: the programs find each other and are one
// training. Not a port alone, which independent ones on one node need.
[[nodiscard]] bool are_one_training(const std::vector<Part>& parts);

// Several programs get numbers of their own: RANK=$r, NODE_RANK=1. dtsubmit would set others.
[[nodiscard]] bool numbers_ranks(const std::vector<Part>& parts);

// The failure of a program that the script waits for ends the script, and with it the others:
// wait $A || exit 1; wait $B.
[[nodiscard]] bool ends_on_failure(const std::vector<Part>& parts);

// A line behind the first of `places` uses a variable that the script sets several times up to the
// last: turns of a loop. A shell for all of them has its last value.
[[nodiscard]] bool acts_on_turns(const std::vector<Part>& parts,
                                 const std::vector<std::size_t>& places);

}  // namespace dts::convert
