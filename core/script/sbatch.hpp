// SPDX-License-Identifier: Apache-2.0
// The batch script of a job, and the options in it. Pure, thread-safe.
#pragma once

#include "core/base/result.hpp"
#include "core/plan/plan.hpp"
#include "core/sched/scheduler.hpp"
#include "core/spec/job_spec.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dts::script {

struct ScriptContext {
  std::string run_dir;             // absolute
  std::string dtsubmit;            // absolute path of the program the job runs
  std::string version;             // for the header, "0.1.0"
  std::vector<std::string> setup;  // lines of shell before the agent starts (module load ...)
  std::string template_text;       // empty: the built-in templates/sbatch.in
  std::string template_name = "sbatch.in";  // for messages
};

// One option of sbatch: --name=value, or --name where `value` is empty. Values are in the form that
// Slurm receives, not quoted.
struct Directive {
  std::string name;   // "job-name"
  std::string value;  // "train"
};

using Directives = std::vector<Directive>;

// The #SBATCH lines that make the same job as `job` does when it is handed to the scheduler. Sorted
// by name.
[[nodiscard]] Directives directives_of(const sched::Submission& job);

// The options of a job that is yet to be submitted. Errc::invalid if the run folder cannot be
// written as --output: not absolute, a control byte, a backslash (Slurm then leaves %j as it is),
// or too long.
[[nodiscard]] Result<Directives> make_directives(const spec::JobSpec& spec,
                                                 const plan::Plan& plan,
                                                 const ScriptContext& context);

// The complete script. Errors as make_directives() and fill_template(), and for a result that
// sbatch would not accept: a NUL or carriage return, more than 4 MiB (max_script_size).
[[nodiscard]] Result<std::string> render_sbatch(const spec::JobSpec& spec,
                                                const plan::Plan& plan,
                                                const ScriptContext& context);

// templates/sbatch.in as it was when the program was built.
[[nodiscard]] std::string_view builtin_sbatch_template();

}  // namespace dts::script
