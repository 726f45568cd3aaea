// SPDX-License-Identifier: Apache-2.0
// How a job comes back once its agent has decided so: under its own id, as a successor, on which
// nodes; or that it does not.
#pragma once

#include "core/base/result.hpp"
#include "core/sched/scheduler.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace dts::launch {

// While the controller is unreachable, the request is repeated for this long.
inline constexpr std::chrono::seconds k_return_patience{120};

// How the run continues after this job's end.
struct JobReturn {
  bool requeue = true;  // under the same id, where the scheduler lets it
  std::string exclude;  // host list; empty: none
  unsigned nodes = 0;   // that the job needs, if `exclude` is not to leave fewer; 0: not checked
  std::optional<sched::Submission> successor{};  // else, or where it does not let it
  bool cancel = false;  // it is not: the job, which the scheduler has put back, goes
  // To be excluded as well, the last first, as long as `nodes` that are up are left.
  std::vector<std::string> avoid{};
};

struct JobReturned {
  sched::JobId job{};     // ours: requeued, or cancelled; another: its successor
  std::string trouble{};  // what failed on the way, if anything
  std::string avoided{};  // host list: what of JobReturn::avoid is excluded
};

// Blocks. Errors: of the scheduler, once the patience is over.
[[nodiscard]] Result<JobReturned> come_back(sched::Scheduler& scheduler,
                                            sched::JobId job,
                                            JobReturn how);

}  // namespace dts::launch
