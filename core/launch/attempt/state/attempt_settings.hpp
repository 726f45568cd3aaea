// SPDX-License-Identifier: Apache-2.0
// What one attempt is asked to do, known before its first rank says hello. Plain data.
#pragma once

#include "core/plan/plan.hpp"
#include "core/run/ledger/history.hpp"
#include "core/topo/topology.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dts::launch {

struct AttemptSettings {
  plan::Plan plan;
  unsigned number = 1;
  std::string token;            // hellos without it are turned away
  std::vector<unsigned> ports;  // candidates for MASTER_PORT, in order
  std::vector<std::pair<std::string, std::string>>
      environment;     // DTSUBMIT_*, the same for all ranks
  std::string folder;  // attempt-<k>, for rank-<r>.log
  int stop_signal = 15;
  bool log_timestamps = false;
  int hang_seconds = 0;                    // as in Go
  std::chrono::seconds quiet_limit{3600};  // without a sign of life, after which it is said
  bool strict_binding = false;             // another binding than planned is the end
  std::string agent_node;
  std::optional<topo::NodeTopology> topology;  // of agent_node, where the agent has looked itself
  std::vector<std::string> nodes;              // of the allocation; empty: not known
  std::chrono::seconds launch_limit{120};      // for all hellos, and then for all starts
  run::FailureRecord record{};                 // of the run's earlier attempts
  // For what is measured on each node; 0: nothing is.
  std::chrono::seconds preflight{0};
  std::string run_directory{};                   // where ranks write
  std::optional<std::uint64_t> memory_mib{};     // asked on each node
  std::chrono::system_clock::time_point wall{};  // the agent's clock when the attempt is made
};

}  // namespace dts::launch
