// SPDX-License-Identifier: Apache-2.0
// What a job of this user may not exceed, beyond what partitions and nodes give to everybody.
#pragma once

#include "core/base/job_limit.hpp"

#include <map>
#include <string>
#include <vector>

namespace dts::sched {

// Of jobs with a certain account and QOS.
struct SiteLimits {
  std::map<std::string, std::vector<JobLimit>> of_partition;
  bool may_change = false;  // the site's own rules may change a job so that other limits apply
  // Limits of partitions that do not hold for these jobs.
  bool lifts_time = false;
  bool lifts_min_nodes = false;
  bool lifts_max_nodes = false;
};

}  // namespace dts::sched
