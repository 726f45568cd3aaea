// SPDX-License-Identifier: Apache-2.0
// Converts a job into a request to the scheduler. Pure, thread-safe.
#pragma once

#include "core/plan/plan.hpp"
#include "core/sched/scheduler.hpp"
#include "core/spec/job_spec.hpp"

#include <string>
#include <vector>

namespace dts::script {

// The data of a job that is needed for its first submission and for every successor.
struct JobFiles {
  std::string script = {};                    // as rendered by render_sbatch()
  std::string script_path = {};               // where the script is stored
  std::string run_dir = {};                   // absolute
  std::string work_folder = {};               // absolute
  std::vector<std::string> environment = {};  // "NAME=value", already scrubbed
  std::vector<plan::Plan> parts = {};         // of the roles of a heterogeneous job
};

// The submission to the scheduler. The script's #SBATCH lines are rendered from it as well (see
// directives_of(); a test compares both in a real Slurm).
[[nodiscard]] sched::Submission make_submission(const spec::JobSpec& spec,
                                                const plan::Plan& plan,
                                                JobFiles files);

}  // namespace dts::script
