// SPDX-License-Identifier: Apache-2.0
// Changes the options of a run that exists: `requeue JOB --nodes 2`, `run --continue RUN
// --ntasks-per-node 3`.
#pragma once

#include "cli/commands/job_options.hpp"
#include "cli/commands/prepare.hpp"
#include "core/run/directory/amendment.hpp"

#include <functional>
#include <string>
#include <vector>

namespace dts::cli {

// Errc::usage if a program was typed: a run keeps the program that it began with.
[[nodiscard]] Result<void> check_no_program(const std::vector<std::string>& command);

// True if an option of the job was typed. --runs does not count, as it only finds the run.
[[nodiscard]] bool changes_run(const JobOptions& options);

struct RunChange {
  run::Amendment files;
  std::string words;  // as typed: "--nodes=2 --time=1:00:00"
  std::string size;   // "2 nodes x 8 ranks"
};

// The resources that a job may use.
using ClusterFor = std::function<Result<plan::ClusterView>(const spec::JobSpec&)>;

// The run's own options, with the typed ones in their place, planned and checked like those of a
// new job; settings from files and variables are not applied again. Errc::invalid reports all
// problems at once, including options that are fixed once a run exists, and in a job of several
// steps or roles those that each of them has itself. Writes nothing.
[[nodiscard]] Result<RunChange> change_run(const run::RunDirectory& run,
                                           JobOptions options,
                                           const ClusterFor& cluster_for,
                                           Destination destination);

}  // namespace dts::cli
