// SPDX-License-Identifier: Apache-2.0
#include "core/launch/job/job_return.hpp"

#include "core/base/text/counted.hpp"
#include "core/base/text/hostlist.hpp"
#include "core/base/text/text.hpp"
#include "core/launch/job/own_job.hpp"
#include "core/sched/order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <thread>
#include <utility>

namespace dts::launch {
namespace {

constexpr std::chrono::seconds k_retry{3};

const sched::Patience k_patience{k_return_patience};

// Repeats `call` until it reaches the controller. A repeated submission could create a second job,
// so order.hpp finds out what became of a lost call.
template <class Call>
auto retry_while_unreachable(Call call) {
  const auto give_up = std::chrono::steady_clock::now() + k_return_patience;
  while (true) {
    auto answer = call();
    if (answer || answer.error().code != Errc::unreachable ||
        std::chrono::steady_clock::now() > give_up)
      return answer;
    std::this_thread::sleep_for(k_retry);
  }
}

std::string both(const std::string& nodes, const std::string& more) {
  return nodes.empty() || more.empty() ? nodes + more : nodes + "," + more;
}

// Empty text is not a valid host list, but here it means no nodes. Errors: those of parsing.
Result<std::vector<std::string>> expanded(const std::string& nodes) {
  if (nodes.empty()) return std::vector<std::string>();
  return expand_hostlist(nodes);
}

// The nodes of the partitions (an empty name means the default one), except those that the job
// excludes; empty if they are not known.
std::set<std::string> nodes_for(sched::Scheduler& scheduler,
                                const sched::JobInfo& job,
                                const std::set<std::string>& wanted) {
  std::set<std::string> nodes;
  const auto partitions = scheduler.partitions();
  const auto gone = expanded(job.exclude_nodes);
  if (!partitions || !gone) return nodes;
  for (const sched::PartitionInfo& partition : *partitions)
    if (wanted.count(partition.name) > 0 || (partition.is_default && wanted.count("") > 0))
      for (std::string& node : expanded(partition.nodes).value_or(std::vector<std::string>()))
        nodes.insert(std::move(node));
  for (const std::string& node : *gone) nodes.erase(node);
  return nodes;
}

// Nodes of how.avoid as a host list, as many as can be excluded so that `left` keeps how.nodes
// nodes that are up.
std::string spared(sched::Scheduler& scheduler, const JobReturn& how, std::set<std::string> left) {
  std::string nodes;
  std::set<std::string> up = left;
  if (const auto all = scheduler.nodes(); all && !how.avoid.empty())
    for (const sched::NodeInfo& node : *all)
      if (node.away) up.erase(node.name);
  for (auto node = how.avoid.rbegin(); node != how.avoid.rend(); ++node) {
    if (up.size() < how.nodes + up.count(*node) || left.erase(*node) == 0) continue;
    up.erase(*node);
    nodes = both(nodes, *node);
  }
  return nodes;
}

// Clears how.exclude if it would leave too few nodes for the job, and adds as many of how.avoid as
// possible. If the nodes are not known, the job still excludes all of how.exclude.
void settle_exclusion(sched::Scheduler& scheduler,
                      sched::JobId job,
                      JobReturn& how,
                      JobReturned& returned) {
  if (how.nodes == 0 || (how.exclude.empty() && how.avoid.empty())) return;
  const auto info = scheduler.job(job);
  const auto gone = expanded(how.exclude);
  std::set<std::string> partitions = how.partitions;
  if (info)
    for (std::string& one : split(info->partition, ',')) partitions.insert(std::move(one));
  const std::set<std::string> all =
      info ? nodes_for(scheduler, *info, partitions) : std::set<std::string>();
  if (all.empty() || !gone) return;
  std::set<std::string> left = all;
  for (const std::string& node : *gone) left.erase(node);
  if (!how.exclude.empty() && left.size() < how.nodes) {
    returned.trouble = fmt::format(
        "{} may be allocated again: without it, partition {} has {}, and the job needs {}",
        how.exclude,
        info->partition,
        counted(left.size(), "node"),
        how.nodes);
    how.exclude.clear();
    left = all;
  }
  returned.avoided = spared(scheduler, how, std::move(left));
  how.exclude = both(how.exclude, returned.avoided);
}

Result<JobReturned> succeed(sched::Scheduler& scheduler,
                            sched::JobId job,
                            JobReturn how,
                            JobReturned returned,
                            bool is_lost) {
  // Not before this job has ended: otherwise both would work on the same run. If the controller has
  // lost this job, a dependency on it is impossible.
  if (!is_lost) how.successor->once["dependency"] = fmt::format("afterany:{}", job);
  how.successor->exclude_nodes = both(how.successor->exclude_nodes, how.exclude);
  for (sched::Submission& component : how.successor->components)
    component.exclude_nodes = both(component.exclude_nodes, how.exclude);
  std::set<sched::JobId> known{job};
  if (const auto jobs = retry_while_unreachable(
          [&] { return sched::find_jobs(scheduler, how.successor->script_path); }))
    for (const sched::JobInfo& other : *jobs) known.insert(other.id);
  DTS_ASSIGN(const std::optional<sched::JobId> job_now, retry_while_unreachable([&] {
               return sched::submit_once(scheduler, *how.successor, known, k_patience);
             }));
  if (!job_now)
    return fail(Errc::unreachable,
                "no answer to the submission of a successor: it may still have been accepted",
                "otherwise `dtsubmit requeue` continues the run");
  returned.job = *job_now;
  return returned;
}

}  // namespace

Result<JobReturned> return_job(sched::Scheduler& scheduler, sched::JobId job, JobReturn how) {
  JobReturned returned{job};
  // A controller that was killed, or restored from a backup, may have forgotten this job, and may
  // have given its id to another one.
  const auto own = retry_while_unreachable([&] { return scheduler.job(job); });
  if (!own && own.error().code != Errc::not_found) return tl::unexpected<Error>(own.error());
  const bool is_lost = !own || !has_script(*own, how.script_path);
  if (is_lost && (how.cancel || how.forbid_requeue)) return returned;
  if (how.cancel)
    return retry_while_unreachable(
               [&] { return sched::cancel_for_certain(scheduler, job, k_patience); })
        .map([&] { return returned; });
  if (how.forbid_requeue) return scheduler.forbid_requeue(job).map([&] { return returned; });
  if (is_lost && how.requeue)
    returned.trouble = fmt::format("the scheduler no longer knows job {}", job);
  if (is_lost && !how.successor) return fail(Errc::rejected, returned.trouble);
  if (!is_lost) settle_exclusion(scheduler, job, how, returned);
  if (is_lost || !how.requeue)
    return succeed(scheduler, job, std::move(how), std::move(returned), is_lost);
  const auto requeued =
      retry_while_unreachable([&] { return sched::requeue_once(scheduler, job, k_patience); });
  if (!requeued && requeued.error().code == Errc::rejected && how.successor) {
    returned.trouble = requeued.error().message;
    return succeed(scheduler, job, std::move(how), std::move(returned), false);
  }
  if (!requeued) return tl::unexpected<Error>(requeued.error());
  if (how.exclude.empty()) return returned;
  if (const auto excluded = scheduler.exclude(job, how.exclude); !excluded) {
    returned.trouble =
        fmt::format("{} may be allocated again: {}", how.exclude, excluded.error().message);
    returned.avoided.clear();
  }
  return returned;
}

}  // namespace dts::launch
