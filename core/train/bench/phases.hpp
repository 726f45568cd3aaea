// SPDX-License-Identifier: Apache-2.0
// The phases that need no other rank. Each runs in a process of its own, which is killed if it
// takes too long: a disk that hangs, an instruction that does not exist or memory that runs out
// ends one phase, not the rank. It also lets oneDNN use all instructions in one phase and the
// trainer's choice in another.
#pragma once

#include "core/train/bench/facts.hpp"
#include "core/train/bench/options.hpp"

#include <chrono>
#include <functional>

namespace dts::train::bench {

// All wanted phases, one after the other; `starts` hears the name of each. `share` of the usual
// time. What fails becomes a note. Not thread-safe.
[[nodiscard]] RankFacts measure_here(const BenchOptions& options,
                                     int rank,
                                     double share,
                                     const std::function<void(const char*)>& starts);

// The longest that measure_here() can take.
[[nodiscard]] std::chrono::milliseconds longest_here(const BenchOptions& options);

// In the process of a phase: measures it and prints the facts on standard output. Returns the exit
// code.
[[nodiscard]] int measure_alone(const BenchOptions& options);

}  // namespace dts::train::bench
