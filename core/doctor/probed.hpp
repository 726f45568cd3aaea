// SPDX-License-Identifier: Apache-2.0
// The result of the job that `dtsubmit doctor --submit-probe` submitted. Plain data.
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
  std::string partition;  // in which it ran or waited
  unsigned asked_nodes = 1;
  std::chrono::seconds waited{0};     // time in the queue
  std::string no_start;               // why it did not start; empty: it did
  bool is_refused = false;            // true: according to Slurm, it will never start
  std::string failure;                // how it ended too early; empty: it did not
  std::vector<unsigned> cores{};      // by node, as allocated; empty: not known
  std::vector<probe::Facts> ranks{};  // of ranks that wrote their file, by rank
};

}  // namespace dts::doctor
