// SPDX-License-Identifier: Apache-2.0
#include "core/launch/job/job_facts.hpp"

#include "core/base/text/hostlist.hpp"
#include "core/base/text/number_list.hpp"

#include <algorithm>

namespace dts::launch {

JobFacts facts_of(sched::Scheduler& scheduler) {
  JobFacts facts;
  if (const auto config = scheduler.config()) {
    if (config->kill_wait_seconds > 0) facts.kill_wait_seconds = config->kill_wait_seconds;
    facts.signals_reach_programs = config->signals_reach_programs;
    facts.restarts_ended_jobs = config->restarts_ended_jobs;
  }
  if (const auto nodes = scheduler.nodes())
    for (const sched::NodeInfo& node : *nodes) {
      facts.addresses[node.name] = node.address;
      facts.ports[node.name] = node.port;
      facts.allotments[node.name].of = node.cpus;
    }
  return facts;
}

void add_record(JobFacts& facts, const sched::JobInfo& job) {
  facts.deadline = job.end_time;
  facts.ends_unwarned = job.ends_unwarned;
  const auto nodes = expand_hostlist(job.nodes);
  for (std::size_t i = 0; nodes && i < std::min(nodes->size(), job.cpus.size()); ++i)
    if (auto cpus = parse_number_list(job.cpus[i], k_highest_cpu))
      facts.allotments[(*nodes)[i]].cpus = *std::move(cpus);
}

std::vector<std::string> nodes_down(sched::Scheduler& scheduler) {
  std::vector<std::string> down;
  if (const auto nodes = scheduler.nodes())
    for (const sched::NodeInfo& node : *nodes)
      if (node.lost) down.push_back(node.name);
  return down;
}

}  // namespace dts::launch
