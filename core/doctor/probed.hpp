// SPDX-License-Identifier: Apache-2.0
// What came of the job that `dtsubmit doctor --submit-probe` submitted. Plain data.
#pragma once

#include "core/probe/facts.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dts::doctor {

struct Probed {
  std::string job;        // its id; empty: it was not accepted
  std::string nodes;      // host list; empty: it has not started
  std::string partition;  // where it ran, or waited
  unsigned asked_nodes = 1;
  std::chrono::seconds waited{0};     // in the queue
  std::string no_start;               // why it has not started; empty: it has
  bool is_refused = false;            // and that is Slurm's last word: it would never start
  std::string failure;                // how it ended too early; empty: it did not
  std::vector<unsigned> cores{};      // that each node gave it; empty: not known
  std::vector<probe::Facts> ranks{};  // those that left their file, by rank
};

}  // namespace dts::doctor
