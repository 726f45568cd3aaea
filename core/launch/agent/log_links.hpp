// SPDX-License-Identifier: Apache-2.0
// --output and --error: links to the log of each job of a run.
#pragma once

#include "core/base/diagnostics.hpp"
#include "core/run/directory/run_directory.hpp"
#include "core/sched/scheduler.hpp"
#include "core/spec/job_spec.hpp"

#include <string>

namespace dts::launch {

// The job whose log the link points to.
struct LoggedJob {
  std::string name;  // of the job
  sched::JobId job;
  sched::JobId element{};  // of a sweep, for %A and %a; empty: of `job`
};

// Creates the link for each pattern in spec.log_links, and its folder. A link to the log of another
// dtsubmit job is replaced, so that a name without the job id leads to the latest; any other
// existing file is kept. Each problem names its option; none ends a job.
[[nodiscard]] Diagnostics link_logs(const spec::JobSpec& spec,
                                    const run::RunDirectory& run,
                                    const LoggedJob& job);

// The same for the job whose batch script runs this process, according to the run's own files.
// Problems are logged.
void link_own_logs(const run::RunDirectory& run);

// Prefixes patterns with the current folder, because links are also created from other folders.
void make_absolute(spec::JobSpec& spec);

}  // namespace dts::launch
