// SPDX-License-Identifier: Apache-2.0
// Who has the nodes of a partition, and who waits for them. Pure, thread-safe.
#pragma once

#include "core/sched/scheduler.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace dts::forecast {

// Of a host list; none of one that cannot be read.
[[nodiscard]] std::set<std::string> hosts_in(const std::string& list);

// A job on nodes that ours would get.
struct Holder {
  JobId job;
  unsigned nodes = 0;         // of them
  std::int64_t end_time = 0;  // its deadline, Unix seconds; 0: none
};

struct Queue {
  std::string partition;
  unsigned nodes = 0;    // of the partition: the sum of these three
  unsigned idle = 0;     // no job is on them
  unsigned in_use = 0;   // at least one is
  unsigned away = 0;     // down, drained, draining or failed, whatever is on them
  unsigned running = 0;  // jobs of this partition
  unsigned waiting = 0;
  std::vector<Holder> holders;  // those that keep them longest come first
};

// What a site's scheduler knows, at one time.
struct SiteQueue {
  std::vector<sched::NodeInfo> nodes;
  std::vector<sched::QueuedJob> jobs;
};

// `ours` is the host list of the nodes that a job would get; empty: not known.
[[nodiscard]] Queue queue_of(const SiteQueue& site,
                             const sched::PartitionInfo& partition,
                             const std::string& ours);

}  // namespace dts::forecast
