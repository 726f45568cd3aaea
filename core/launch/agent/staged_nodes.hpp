// SPDX-License-Identifier: Apache-2.0
// Removes files that --stage has put on nodes, when a job leaves these nodes.
#pragma once

#include "core/base/result.hpp"
#include "core/launch/job/assignment.hpp"

#include <string>
#include <vector>

namespace dts::launch {

// `dtsubmit unstage`: removes what attempts 1 to `attempt` staged on this node, whose name is
// `node`.
[[nodiscard]] Result<void> unstage_this_node(const run::RunDirectory& run,
                                             unsigned attempt,
                                             const std::string& node);

struct StagedNodes {
  const Assignment& job;
  std::vector<std::string> nodes;  // those that still answer; unused without a scheduler
  std::string dtsubmit;
  unsigned attempt = 1;  // the latest
  bool local = false;
};

// Does the same on all nodes: in a step of the job, over ssh, or on this machine. Takes seconds.
// Failures are logged, and the next job of the same user on such a node removes what is left.
void unstage_nodes(const StagedNodes& staged);

}  // namespace dts::launch
