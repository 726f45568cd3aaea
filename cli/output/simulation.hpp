// SPDX-License-Identifier: Apache-2.0
// Output of `dtsubmit simulate`.
#pragma once

#include "core/reliability/simulate.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dts::cli {

// A policy's name as typed by the user, and the outcome of the run under it.
struct SimulatedPolicy {
  std::string name;
  reliability::Model model;
  reliability::Estimate estimate;
};

struct Simulation {
  unsigned gpus_per_node = 8;
  std::uint64_t seed = 1;
  unsigned repetitions = 20;
  std::vector<SimulatedPolicy> policies;  // the first is the one given by the options
};

// Human-readable: one screen.
[[nodiscard]] std::string to_text(const Simulation& simulation);

// One document, schema dtsubmit/simulate/1: times in seconds, shares from 0 to 1.
[[nodiscard]] std::string to_json(const Simulation& simulation);

}  // namespace dts::cli
