// SPDX-License-Identifier: Apache-2.0
// Removes what --stage has put on nodes when a job leaves them.
#pragma once

#include "core/base/result.hpp"
#include "core/launch/job/assignment.hpp"

#include <string>
#include <vector>

namespace dts::launch {

// `dtsubmit unstage`: on this node, named `node`, removes what attempts 1 to `attempt` have staged.
[[nodiscard]] Result<void> unstage_here(const run::RunDirectory& run,
                                        unsigned attempt,
                                        const std::string& node);

struct StagedNodes {
  const Assignment& job;
  std::vector<std::string> nodes;  // nodes of the job that still answer; unused without a scheduler
  std::string dtsubmit;
  unsigned attempt = 1;  // the last one
  bool local = false;
};

// The same on all nodes: by a step of the job, over ssh, or here. Takes seconds. Failures are
// logged, and the next job of the same user on that node removes what is left.
void unstage_nodes(const StagedNodes& staged);

}  // namespace dts::launch
