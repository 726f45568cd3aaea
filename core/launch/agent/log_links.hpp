// SPDX-License-Identifier: Apache-2.0
// --output and --error: links to the log of each job of a run.
#pragma once

#include "core/base/diagnostics.hpp"
#include "core/run/directory/run_directory.hpp"
#include "core/sched/scheduler.hpp"
#include "core/spec/job_spec.hpp"

#include <string>

namespace dts::launch {

// The job whose log is linked to.
struct LoggedJob {
  std::string name;  // of the job
  sched::JobId job;
  sched::JobId element{};  // of a sweep, by which %A and %a go; empty: of `job`
};

// Makes the link of each pattern in spec.log_links, and its folder. A link to the log of another
// job of dtsubmit is replaced, so that a name without the job's id leads to the latest; anything
// else that is there stays. Each problem names its option; none ends a job.
[[nodiscard]] Diagnostics link_logs(const spec::JobSpec& spec,
                                    const run::RunDirectory& run,
                                    const LoggedJob& job);

// The same for the job in whose batch script this process is, as the run's own files have it.
// Problems are logged.
void link_own_logs(const run::RunDirectory& run);

// Links are made from other folders as well: patterns with the current folder before them.
void make_absolute(spec::JobSpec& spec);

}  // namespace dts::launch
