// SPDX-License-Identifier: Apache-2.0
// What the tests of the launchers' command lines ask for.
#pragma once

#include "core/launch/launcher/launcher.hpp"

#include <string>
#include <vector>

namespace dts::launch {

using Words = std::vector<std::string>;

inline const Words k_rank{"/opt/dtsubmit", "rank", "--", "python3", "a b.py", "--np", "$(x)", ""};

inline LaunchRequest request_for(unsigned nodes, unsigned tasks) {
  LaunchRequest request;
  request.plan.nodes = nodes;
  request.plan.ntasks_per_node = tasks;
  request.plan.world_size = nodes * tasks;
  request.rank_command = k_rank;
  return request;
}

}  // namespace dts::launch
