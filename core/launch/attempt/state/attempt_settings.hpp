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
  run::RunDirectory run;  // where ranks write
  unsigned number = 1;
  std::string token;                       // hellos without it are rejected
  std::vector<unsigned> ports;             // candidates for MASTER_PORT, in order
  plan::Environment environment;           // DTSUBMIT_*, the same for all ranks
  bool in_slurm = false;                   // ranks run in a job of it
  std::chrono::seconds quiet_limit{3600};  // without a sign of life, before it is reported
  std::string set_up{};                    // run on each node before any program; empty: nothing is
  std::string tear_down{};                 // run there once programs have ended; empty: nothing is
  std::string agent_node;
  std::optional<topo::NodeTopology> topology{};  // of agent_node, if the agent has read it
  std::vector<std::string> nodes{};              // to run on; empty: not known
  run::FailureRecord record{};                   // of the run's earlier attempts
  std::chrono::system_clock::time_point wall{};  // the agent's clock when the attempt is made

  // attempt-<k>, for rank-<r>.log
  [[nodiscard]] std::string folder() const { return run.attempt(number); }
};

}  // namespace dts::launch
