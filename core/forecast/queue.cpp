// SPDX-License-Identifier: Apache-2.0
#include "core/forecast/queue.hpp"

#include "core/base/text/hostlist.hpp"
#include "core/base/text/text.hpp"

#include <algorithm>
#include <limits>

namespace dts::forecast {
namespace {

using Names = std::set<std::string>;

unsigned count_common(const Names& some, const Names& others) {
  return static_cast<unsigned>(std::count_if(
      some.begin(), some.end(), [&](const std::string& name) { return others.contains(name); }));
}

std::int64_t end_of(const Holder& holder) {
  return holder.end_time > 0 ? holder.end_time : std::numeric_limits<std::int64_t>::max();
}

void count_nodes(const std::vector<sched::NodeInfo>& nodes,
                 const Names& of_partition,
                 const Names& used,
                 Queue& queue) {
  for (const sched::NodeInfo& node : nodes) {
    if (!of_partition.contains(node.name)) continue;
    ++queue.nodes;
    if (node.away)
      ++queue.away;
    else if (used.contains(node.name))
      ++queue.in_use;
    else
      ++queue.idle;
  }
}

}  // namespace

std::set<std::string> hosts_in(const std::string& list) {
  if (list.empty()) return {};
  const auto names = expand_hostlist(list);
  return names ? Names(names->begin(), names->end()) : Names();
}

Queue queue_of(const SiteQueue& site,
               const sched::PartitionInfo& partition,
               const std::string& ours) {
  Queue queue;
  queue.partition = partition.name;
  const Names wanted = hosts_in(ours);
  Names used;
  for (const sched::QueuedJob& job : site.jobs) {
    const bool is_here = is_one_of(split(job.partition, ','), partition.name);
    if (is_here) ++(job.waits ? queue.waiting : queue.running);
    if (job.waits) continue;
    const Names its = hosts_in(job.nodes);
    used.insert(its.begin(), its.end());
    if (const unsigned common = count_common(its, wanted); common > 0)
      queue.holders.push_back({job.id, common, job.end_time});
  }
  count_nodes(site.nodes, hosts_in(partition.nodes), used, queue);
  std::stable_sort(
      queue.holders.begin(), queue.holders.end(), [](const Holder& one, const Holder& other) {
        return end_of(one) > end_of(other);
      });
  return queue;
}

}  // namespace dts::forecast
