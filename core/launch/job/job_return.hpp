// SPDX-License-Identifier: Apache-2.0
// How a job comes back once its agent has decided that it should: under its own id or as a
// successor, and on which nodes. Also makes sure that a job does not come back when it should not.
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

// How the run continues after the current job has ended.
struct JobReturn {
  bool requeue = true;  // under its own id, if the scheduler allows it
  std::string exclude;  // host list; empty: none
  unsigned nodes = 0;   // that the job needs; `exclude` must leave that many; 0: not checked
  std::optional<sched::Submission> successor{};  // submitted if `requeue` is false or not allowed
  bool cancel = false;          // do not continue: cancel the job if the scheduler has requeued it
  bool forbid_requeue = false;  // do not continue: the scheduler must not start the job again
  // More nodes to exclude, from the last one on, as long as `nodes` nodes that are up remain.
  std::vector<std::string> avoid{};
  // For a heterogeneous job: partitions of its components other than that of the job's record. An
  // empty name means the default partition.
  std::set<std::string> partitions{};
  // The job's script, if known. If the id now belongs to a job with another script, that is not
  // touched.
  std::optional<std::string> script_path{};
};

struct JobReturned {
  sched::JobId job{};     // our own job if it was requeued or cancelled, otherwise the successor
  std::string trouble{};  // what failed on the way, if anything
  std::string avoided{};  // host list: the nodes of JobReturn::avoid that were excluded
};

// Blocks. Errors: the scheduler's, once k_return_patience is over.
[[nodiscard]] Result<JobReturned> return_job(sched::Scheduler& scheduler,
                                             sched::JobId job,
                                             JobReturn how);

}  // namespace dts::launch
