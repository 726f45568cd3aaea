// SPDX-License-Identifier: Apache-2.0
// Which jobs have the nodes of a partition, and which wait for them. Pure, thread-safe.
#pragma once

#include "core/sched/scheduler.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace dts::forecast {

// The hosts of a host list; none if the list cannot be read.
[[nodiscard]] std::set<std::string> hosts_in(const std::string& list);

// A job on nodes that our job would get.
struct Holder {
  JobId job;
  unsigned nodes = 0;         // number of these nodes that it has
  std::int64_t end_time = 0;  // its deadline, Unix seconds; 0: none
};

struct Queue {
  std::string partition;
  unsigned nodes = 0;    // nodes of the partition: the sum of these three
  unsigned idle = 0;     // without a job
  unsigned in_use = 0;   // with at least one job
  unsigned away = 0;     // down, drained, draining or failed, with or without jobs
  unsigned running = 0;  // jobs of this partition
  unsigned waiting = 0;
  std::vector<Holder> holders;  // those that keep the nodes longest come first
};

// What a site's scheduler reports at one time.
struct SiteQueue {
  std::vector<sched::NodeInfo> nodes;
  std::vector<sched::QueuedJob> jobs;
};

// `ours` is the host list of the nodes that our job would get; empty: not known.
[[nodiscard]] Queue queue_of(const SiteQueue& site,
                             const sched::PartitionInfo& partition,
                             const std::string& ours);

}  // namespace dts::forecast
