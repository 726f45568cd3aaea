// SPDX-License-Identifier: Apache-2.0
// A seeded, event-driven Monte Carlo simulation of a run: the same seed gives the same numbers on
// every machine. Its cost grows with the simulated failures, not with the nodes and saves.
#pragma once

#include "core/reliability/model.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

namespace dts::reliability {

// Where the run's time goes; the sum is exactly its wall time.
enum class State {
  computing,  // at full speed, and not lost later
  slow,       // time that slow nodes added to that
  saving,
  lost,       // computed but not saved, and unfinished saves
  detecting,  // dead, but not yet noticed
  queued,
  down,  // the cluster has too few working nodes
  starting,
};
constexpr std::size_t k_states = 8;

enum class Count {
  node_failures,   // of single nodes
  lemon_failures,  // failures of lemons
  quarantined,
  switch_failures,
  corruptions,  // corruptions that were found
  preemptions,
  slow_episodes,
  spare_restarts,  // restarts without queueing
  requeues,
  saves,
};
constexpr std::size_t k_counts = 10;

[[nodiscard]] std::string_view to_string(State state);
[[nodiscard]] std::string_view to_string(Count count);

// One run.
struct Outcome {
  std::array<std::chrono::nanoseconds, k_states> time{};
  std::array<std::uint64_t, k_counts> count{};
  std::chrono::nanoseconds at_risk{0};  // time in which nodes can fail: starting and running
  std::uint64_t events = 0;

  [[nodiscard]] std::chrono::nanoseconds of(State state) const {
    return time[static_cast<std::size_t>(state)];
  }

  [[nodiscard]] std::uint64_t of(Count what) const { return count[static_cast<std::size_t>(what)]; }
};

// `model` must be valid (validate()). Each (seed, repetition) is a separate run. Policies are best
// compared under the same seed, which gives them the same failures. Thread-safe.
[[nodiscard]] Outcome simulate_once(const Model& model,
                                    std::uint64_t seed,
                                    std::uint64_t repetition);

// Means over repetitions.
struct Estimate {
  unsigned repetitions = 0;
  Seconds interval{0};  // between saves
  std::array<Seconds, k_states> time{};
  std::array<double, k_counts> count{};
  double goodput = 0;        // computing / wall
  double goodput_error = 0;  // half the 95 % confidence interval of the mean goodput (Student's t);
                             // 0 for one repetition
  double goodput_least = 0;  // the worst repetition
  double failures = 0;       // node, switch and corruption
  std::uint64_t events = 0;  // simulated, in total

  [[nodiscard]] Seconds of(State state) const { return time[static_cast<std::size_t>(state)]; }

  [[nodiscard]] double of(Count what) const { return count[static_cast<std::size_t>(what)]; }
};

// Errc::usage if validate() reports problems.
[[nodiscard]] Result<Estimate> simulate(const Model& model,
                                        std::uint64_t seed,
                                        unsigned repetitions);

}  // namespace dts::reliability
