// SPDX-License-Identifier: Apache-2.0
// What will become of a job, from its options and from what the scheduler says: for `plan`.
#pragma once

#include "cli/commands/job_options.hpp"
#include "cli/commands/prepare.hpp"
#include "core/forecast/outlook.hpp"
#include "core/sched/scheduler.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace dts::cli {

// The site as its scheduler describes it now.
struct KnownSite {
  std::unique_ptr<sched::Scheduler> scheduler;  // nullptr: nothing else is known either
  Error why_not{};                              // without one
  plan::ClusterView cluster;
  forecast::Site site;
  Result<void> accepts_us;  // an error if no job of ours is submitted here, see check_exit_codes()
};

// Asks the scheduler. Every failure means that the site is not known.
[[nodiscard]] KnownSite look_around_site();

struct Foreseen {
  spec::Layer settings;  // origin of each value
  Prepared prepared;
  forecast::Outlook outlook;
};

// Writes nothing but notes for the user, and submits nothing. `assume` as in
// set_by_names(). Errors: the user's own mistakes; what the site does not allow is in the outlook.
[[nodiscard]] Result<Foreseen> foresee(const JobOptions& options,
                                       const std::vector<std::string>& command,
                                       const KnownSite& site,
                                       const std::vector<std::string>& assume);

}  // namespace dts::cli
