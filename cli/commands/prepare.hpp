// SPDX-License-Identifier: Apache-2.0
// Turns a spec into a run directory: the steps that `submit` and `run` share before anything
// starts.
#pragma once

#include "cli/commands/job_options.hpp"
#include "cli/commands/source.hpp"
#include "core/base/result.hpp"
#include "core/plan/plan.hpp"
#include "core/run/directory/run_directory.hpp"
#include "core/sched/scheduler.hpp"
#include "core/script/sbatch.hpp"
#include "core/spec/job_spec.hpp"
#include "core/sweep/sweep.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dts::cli {

struct Prepared {
  spec::JobSpec spec;
  plan::Plan plan;
  std::vector<plan::Plan> parts;  // plans of the steps or roles
  std::string run_name;
  std::string runs;               // absolute path of the folder with run directories
  script::ScriptContext context;  // for rendering `script`
  std::string script;             // empty without a scheduler
  Source source;
  std::map<std::string, std::string> versions;  // of the cluster's software: {"slurm", "22.05.8"}
  std::optional<sweep::Sweep> sweep;            // for an array or a sweep

  [[nodiscard]] run::RunDirectory directory() const { return {runs + "/" + run_name}; }

  // The working folder of all attempts.
  [[nodiscard]] std::string work_folder() const {
    return folder_of_attempts(spec, source, directory());
  }
};

enum class Destination { this_machine, scheduler };  // only a scheduler needs a script

// `cluster` may be empty (unknown). Writes nothing except notes for the user. Errc::invalid reports
// every problem at once: in the command line, in the spec, and with what the cluster offers.
[[nodiscard]] Result<Prepared> prepare(Asked asked,
                                       Source source,
                                       const plan::ClusterView& cluster,
                                       Destination destination);

// Prepares the files of an existing run with other options. Prepared::source stays empty, since
// provenance.json does not change.
[[nodiscard]] Result<Prepared> prepare_change(Asked asked,
                                              const run::RunDirectory& run,
                                              const plan::ClusterView& cluster,
                                              Destination destination);

// Reports the same problems if the cluster cannot be queried.
[[nodiscard]] Result<void> check(const Asked& asked);

// The run directory of part `index`, below the run's own.
[[nodiscard]] std::string part_folder_of(const spec::JobSpec& spec, std::size_t index);

// Writes the run directory, not yet durable (see create_run_directory()).
[[nodiscard]] Result<run::RunDirectory> write_run(const Prepared& prepared);

// The request to the scheduler, with the environment of this process.
[[nodiscard]] sched::Submission submission_of(const Prepared& prepared);

[[nodiscard]] Result<plan::ClusterView> view_of(sched::Scheduler& scheduler);
[[nodiscard]] Result<plan::ClusterView> view_of(
    const std::vector<sched::NodeInfo>& nodes, const std::vector<sched::PartitionInfo>& partitions);

}  // namespace dts::cli
