// SPDX-License-Identifier: Apache-2.0
// A job as the request to the scheduler. Pure, thread-safe.
#pragma once

#include "core/plan/plan.hpp"
#include "core/sched/scheduler.hpp"
#include "core/spec/job_spec.hpp"

#include <string>
#include <vector>

namespace dts::script {

// What a job is made of, at its first submission and for every successor of it.
struct JobFiles {
  std::string script = {};                    // the text that render_sbatch() gave
  std::string script_path = {};               // where it lies
  std::string run_dir = {};                   // absolute
  std::string work_folder = {};               // absolute
  std::vector<std::string> environment = {};  // "NAME=value", already scrubbed
};

// What is handed to the scheduler, and what the script's #SBATCH lines are rendered from
// (directives_of(); a test compares both in a real Slurm).
[[nodiscard]] sched::Submission make_submission(const spec::JobSpec& spec,
                                                const plan::Plan& plan,
                                                JobFiles files);

}  // namespace dts::script
