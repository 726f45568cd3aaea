// SPDX-License-Identifier: Apache-2.0
// What --stage has put on nodes is removed when a job leaves them.
#pragma once

#include "core/base/result.hpp"
#include "core/launch/job/assignment.hpp"

#include <string>
#include <vector>

namespace dts::launch {

// `dtsubmit unstage`: on this node, called `node`, what attempts 1 to `attempt` have staged.
[[nodiscard]] Result<void> unstage_here(const run::RunDirectory& run,
                                        unsigned attempt,
                                        const std::string& node);

struct StagedNodes {
  const Assignment& job;
  std::vector<std::string> nodes;  // of the job that still answer; not used without a scheduler
  std::string dtsubmit;
  unsigned attempt = 1;  // the last one
  bool local = false;
};

// The same on all of them: by a step of the job, over ssh, or here. Takes seconds; what fails is
// logged, and removed by the next job of the same user on that node.
void unstage_nodes(const StagedNodes& staged);

}  // namespace dts::launch
