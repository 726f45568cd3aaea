// SPDX-License-Identifier: Apache-2.0
// Predicts what will become of a job, from its options and the scheduler's answers: for `plan`.
#pragma once

#include "cli/commands/job_options.hpp"
#include "cli/commands/prepare.hpp"
#include "cli/commands/submission.hpp"
#include "core/forecast/outlook.hpp"
#include "core/sched/scheduler.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dts::cli {

// The current state of the site, according to its scheduler.
struct KnownSite {
  std::unique_ptr<sched::Scheduler> scheduler;  // nullptr: the other members are unset, too
  Error why_not{};                              // why there is no scheduler
  plan::ClusterView cluster;
  forecast::Site site;
  std::shared_ptr<std::map<Charged, sched::SiteLimits>> limits;  // those asked for so far
  Result<void> permission;  // an error if the site refuses our jobs, see check_exit_codes()
};

// Asks the scheduler. If anything fails, the site counts as unknown.
[[nodiscard]] KnownSite query_site();

struct RunForecast {
  spec::Layer settings;  // origin of each value
  Prepared prepared;
  forecast::Outlook outlook;
};

// Submits nothing and writes only notes for the user. `assume`: see set_by_names(). Errors: the
// user's own mistakes. What the site does not allow is in the outlook.
[[nodiscard]] Result<RunForecast> foresee(const JobOptions& options,
                                          const std::vector<std::string>& command,
                                          const KnownSite& site,
                                          const std::vector<std::string>& assume);

}  // namespace dts::cli
