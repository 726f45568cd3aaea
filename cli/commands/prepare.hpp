// SPDX-License-Identifier: Apache-2.0
// From a spec to a run directory: the steps that `submit` and `run` share before anything is
// started.
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
  std::vector<plan::Plan> parts;  // of its steps or roles
  std::string run_name;
  std::string runs;               // absolute folder of the run directories
  script::ScriptContext context;  // of `script`
  std::string script;             // empty without a scheduler
  Source source;
  std::map<std::string, std::string> versions;  // of what the cluster runs: {"slurm", "22.05.8"}
  std::optional<sweep::Sweep> sweep;            // of an array or a sweep

  [[nodiscard]] run::RunDirectory directory() const { return {runs + "/" + run_name}; }

  // Of all attempts.
  [[nodiscard]] std::string work_folder() const {
    return folder_of_attempts(spec, source, directory());
  }
};

enum class Destination { this_machine, scheduler };  // only a scheduler needs a script

// `cluster` may be empty (unknown). Nothing is written but notes for the user. Errc::invalid with
// every problem at once: of what was typed, of the spec and of what the cluster has.
[[nodiscard]] Result<Prepared> prepare(Asked asked,
                                       Source source,
                                       const plan::ClusterView& cluster,
                                       Destination destination);

// The same problems where the cluster cannot be asked.
[[nodiscard]] Result<void> check(const Asked& asked);

// Writes the run directory, not yet durable (see create_run_directory()).
[[nodiscard]] Result<run::RunDirectory> write_run(const Prepared& prepared);

[[nodiscard]] Result<plan::ClusterView> view_of(sched::Scheduler& scheduler);

}  // namespace dts::cli
