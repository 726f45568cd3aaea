// SPDX-License-Identifier: Apache-2.0
// How a job comes back once its agent has decided so: under its own id or as a successor, and on
// which nodes; or that it does not.
#pragma once

#include "core/base/result.hpp"
#include "core/sched/scheduler.hpp"

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace dts::launch {

// While the controller is unreachable, the request is repeated for this long.
inline constexpr std::chrono::seconds k_return_patience{120};

// How the run continues after this job's end.
struct JobReturn {
  bool requeue = true;  // under the same id, if the scheduler allows it
  std::string exclude;  // host list; empty: none
  unsigned nodes = 0;   // nodes the job needs: `exclude` must leave that many; 0: not checked
  std::optional<sched::Submission> successor{};  // otherwise, or if the scheduler does not allow it
  bool cancel = false;      // do not continue: cancel the job if the scheduler has requeued it
  bool stay_ended = false;  // do not continue: the scheduler must not start the job again
  // Also excluded, the last one first, as long as `nodes` nodes that are up remain.
  std::vector<std::string> avoid{};
  // For a heterogeneous job: the partitions of its components, in addition to that of its record.
  // An empty name means the default.
  std::set<std::string> partitions{};
  // The script of the job, if known: a job with another script that has its id now is not touched.
  std::optional<std::string> script_path{};
};

struct JobReturned {
  sched::JobId job{};     // our own: requeued or cancelled; another: the successor
  std::string trouble{};  // what failed on the way, if anything
  std::string avoided{};  // host list: the nodes of JobReturn::avoid that are excluded
};

// Blocks. Errors: of the scheduler, once the patience is over.
[[nodiscard]] Result<JobReturned> come_back(sched::Scheduler& scheduler,
                                            sched::JobId job,
                                            JobReturn how);

}  // namespace dts::launch
