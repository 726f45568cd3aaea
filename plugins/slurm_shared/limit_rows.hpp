// SPDX-License-Identifier: Apache-2.0
// The kinds of limits that a job can exceed by itself, and which of several settings of a kind
// apply to it. Pure.
#pragma once

#include "plugins/slurm_shared/record.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace slurm_plugin {

// Where limits are set. `record` is not owned.
struct LimitPlace {
  const Record* record;
  std::string name;     // "QOS small"
  std::string instead;  // "another --qos"
};

// All that applies to a job in one partition.
struct LimitSources {
  std::vector<LimitPlace> qos;           // the first one with a limit of a kind decides
  std::vector<LimitPlace> associations;  // the user's first, then its parents: all of them apply
  double factor = 1;                     // of the associations' limits
  bool counts_time = true;
  bool counts_usage = false;  // a job must fit into what is left of a GrpTRESMins or GrpWall
  bool whole_nodes = false;   // jobs may get more than they ask for
};

// Appends a limit, as the operation `limits` replies with it, for each setting that applies.
void add_limits(const LimitSources& from, nlohmann::json& limits);

}  // namespace slurm_plugin
