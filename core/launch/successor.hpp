// SPDX-License-Identifier: Apache-2.0
// The job that continues a run under a new id, where its old one cannot be requeued.
#pragma once

#include "core/base/result.hpp"
#include "core/run/run_directory.hpp"
#include "core/sched/scheduler.hpp"

#include <string>
#include <vector>

namespace dts::launch {

// Our environment without what must not leak into a job.
[[nodiscard]] std::vector<std::string> scrubbed_environment();

// The run's own files as the request they were once made into, with our own environment. Errors: a
// file of the run directory that cannot be read.
[[nodiscard]] Result<sched::Submission> make_successor(const run::RunDirectory& run);

}  // namespace dts::launch
