// SPDX-License-Identifier: Apache-2.0
// What the programs of a composed run learn about its parts, see environment(7).
#pragma once

#include "core/launch/agent/part_agent.hpp"
#include "core/launch/job/job_watch.hpp"

#include <map>
#include <string>
#include <vector>

namespace dts::launch {

struct PartPlace {
  std::string name;
  std::string folder;              // the part's run directory
  std::vector<std::string> nodes;  // including spare nodes
  unsigned port = 0;               // roles only
};

// Chooses a port for each place: free on this node, distinct, and different from the ports of the
// previous attempt; 0 if there is none.
void choose_ports(const std::string& run, unsigned attempt, std::vector<PartPlace>& places);

// Addresses by node, as the scheduler knows them. Waits at most a few seconds for its answer.
[[nodiscard]] std::map<std::string, std::string> node_addresses(JobWatch& watch);

// DTSUBMIT_RUN_BEGAN: Unix seconds of the run's beginning, the same in all attempts; the current
// time before the first attempt.
[[nodiscard]] Variables::value_type began_variable(const run::RunDirectory& run);

// DTSUBMIT_RUN_BEGAN, DTSUBMIT_JOB_DIR, and for each part DTSUBMIT_STEP_NAME_DIR or
// DTSUBMIT_ROLE_NAME_DIR, _NODES, _ADDR and _PORT.
[[nodiscard]] Variables part_variables(const run::RunDirectory& run,
                                       bool are_roles,
                                       const std::vector<PartPlace>& places,
                                       const std::map<std::string, std::string>& addresses);

}  // namespace dts::launch
