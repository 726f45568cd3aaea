// SPDX-License-Identifier: Apache-2.0
// The settings of one attempt, known before its first rank says hello. Plain data.
#pragma once

#include "core/plan/plan.hpp"
#include "core/run/directory/run_directory.hpp"
#include "core/run/ledger/history.hpp"
#include "core/spec/job_spec.hpp"
#include "core/topo/topology.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace dts::launch {

struct AttemptSettings {
  spec::JobSpec spec;  // limits, checks, binding and signals as requested
  plan::Plan plan;
  run::RunDirectory run;  // the directory that ranks write into
  unsigned number = 1;
  std::string token;                       // hellos without it are rejected
  std::vector<unsigned> ports;             // candidates for MASTER_PORT, in order
  plan::Environment environment;           // DTSUBMIT_*, the same for all ranks
  bool in_slurm = false;                   // the ranks run in a Slurm job
  std::chrono::seconds quiet_limit{3600};  // without a sign of life; then that is reported
  std::string set_up{};                    // script for each node before programs run; empty: none
  std::string tear_down{};                 // the same, once programs have ended; empty: none
  std::string agent_node;
  std::optional<topo::NodeTopology> topology{};  // of agent_node, if the agent has read it
  std::vector<std::string> nodes{};              // that the attempt runs on; empty: not known
  run::FailureRecord record{};                   // of the run's earlier attempts
  std::chrono::system_clock::time_point wall{};  // the agent's clock when the attempt was created

  // attempt-<k>, which has the logs rank-<r>.log.
  [[nodiscard]] std::string folder() const { return run.attempt(number); }

  // The file that takes the stacks of a rank's program.
  [[nodiscard]] std::string stacks(unsigned rank) const {
    return folder() + "/stacks-rank-" + std::to_string(rank) + ".txt";
  }
};

}  // namespace dts::launch
