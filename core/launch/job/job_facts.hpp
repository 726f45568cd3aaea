// SPDX-License-Identifier: Apache-2.0
// What the scheduler reports about a job's surroundings: its nodes, its limits, and which processes
// its signals reach.
#pragma once

#include "core/plan/allotment.hpp"
#include "core/sched/scheduler.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace dts::launch {

struct JobFacts {
  std::map<std::string, std::string> addresses;       // NodeAddr by node name
  std::map<std::string, unsigned> ports;              // of the nodes' daemons, by node name
  std::map<std::string, plan::Allotment> allotments;  // by node name
  unsigned kill_wait_seconds = 30;
  bool signals_reach_programs = false;  // see Go
  bool restarts_ended_jobs = false;     // see sched::ConfigInfo
  std::int64_t deadline = 0;            // Unix seconds at which the job's time is up; 0: not known
  bool ends_unwarned = false;           // see sched::JobInfo
};

// Gathers everything except the job's own record. Both functions block for as long as the scheduler
// takes to answer.
[[nodiscard]] JobFacts facts_of(sched::Scheduler& scheduler);
[[nodiscard]] std::vector<std::string> nodes_down(sched::Scheduler& scheduler);

// Adds what the job's record shows.
void add_record(JobFacts& facts, const sched::JobInfo& job);

}  // namespace dts::launch
