// SPDX-License-Identifier: Apache-2.0
// Links to the log of each job of a run, for --output and --error.
#pragma once

#include "core/base/diagnostics.hpp"
#include "core/run/directory/run_directory.hpp"
#include "core/sched/scheduler.hpp"
#include "core/spec/job_spec.hpp"

#include <string>

namespace dts::launch {

// The job whose log the link points to.
struct LoggedJob {
  std::string name;  // the job's name
  sched::JobId job;
  sched::JobId element{};  // for %A and %a in a sweep; empty: `job`
};

// Creates the link for each pattern in spec.log_links, and its folder. A link to the log of another
// dtsubmit job is replaced, so that a name without job id leads to the latest job; any other
// existing file is kept. Each problem names its option, and no problem ends a job.
[[nodiscard]] Diagnostics link_logs(const spec::JobSpec& spec,
                                    const run::RunDirectory& run,
                                    const LoggedJob& job);

// Does the same for the job whose batch script runs this process, as described by the run's own
// files. Problems are logged.
void link_own_logs(const run::RunDirectory& run);

// Makes patterns absolute, because links are also created from other folders than the current one.
void make_absolute(spec::JobSpec& spec);

}  // namespace dts::launch
