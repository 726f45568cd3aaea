// SPDX-License-Identifier: Apache-2.0
// The phases that need no other ranks. Each runs in a process of its own, which is killed if it
// takes too long: a hanging disk, an illegal instruction or a lack of memory ends one phase, but
// not the rank. It also lets one phase use all instructions of oneDNN, and another those that the
// trainer chooses.
#pragma once

#include "core/train/bench/facts.hpp"
#include "core/train/bench/options.hpp"

#include <chrono>
#include <functional>

namespace dts::train::bench {

// Runs all wanted phases, one after another, each for `share` of its usual time; `starts` gets the
// name of each. Failures become notes. Not thread-safe.
[[nodiscard]] RankFacts measure_rank(const BenchOptions& options,
                                     int rank,
                                     double share,
                                     const std::function<void(const char*)>& starts);

// The longest time that measure_rank() can take.
[[nodiscard]] std::chrono::milliseconds longest_measurement(const BenchOptions& options);

// Runs in the process of a phase: measures it and prints the facts on standard output. Returns the
// exit code.
[[nodiscard]] int measure_alone(const BenchOptions& options);

}  // namespace dts::train::bench
