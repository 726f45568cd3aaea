// SPDX-License-Identifier: Apache-2.0
// What the programs of a composed run are told of its parts, environment(7).
#pragma once

#include "core/launch/agent/part_agent.hpp"
#include "core/launch/job/job_watch.hpp"

#include <map>
#include <string>
#include <vector>

namespace dts::launch {

struct PartPlace {
  std::string name;
  std::string folder;              // its run directory
  std::vector<std::string> nodes;  // spare ones included
  unsigned port = 0;               // of a role
};

// A port for each, free on this node and different from each other; others than in the attempt
// before. 0: there is none.
void choose_ports(const std::string& run, unsigned attempt, std::vector<PartPlace>& places);

// By node, as the scheduler knows them; waits a few seconds for its answer at most.
[[nodiscard]] std::map<std::string, std::string> node_addresses(JobWatch& watch);

// DTSUBMIT_JOB_DIR, DTSUBMIT_STEP_NAME_DIR or DTSUBMIT_ROLE_NAME_DIR, _NODES, _ADDR and _PORT.
[[nodiscard]] Variables part_variables(const std::string& run,
                                       bool are_roles,
                                       const std::vector<PartPlace>& places,
                                       const std::map<std::string, std::string>& addresses);

}  // namespace dts::launch
