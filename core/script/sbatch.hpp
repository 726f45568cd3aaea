// SPDX-License-Identifier: Apache-2.0
// The batch script of a job, and the options in it. Pure, thread-safe.
#pragma once

#include "core/base/result.hpp"
#include "core/plan/plan.hpp"
#include "core/sched/scheduler.hpp"
#include "core/script/template/render.hpp"
#include "core/spec/job_spec.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::script {

struct ScriptContext {
  std::string run_dir;             // absolute
  std::string dtsubmit;            // absolute path of the program the job runs
  std::string version;             // for the header, "0.1.0"
  std::vector<std::string> setup;  // lines of shell before the agent starts (module load ...)
  std::string template_name = "sbatch";
  Partials templates{};             // those that take the place of built-in ones; null: none
  std::vector<plan::Plan> parts{};  // of the roles of a heterogeneous job
};

// One option of sbatch: --name=value, or --name where `value` is empty. Values are in the form that
// Slurm receives, not quoted.
struct Directive {
  std::string name;   // "job-name"
  std::string value;  // "train"
};

using Directives = std::vector<Directive>;

// The #SBATCH lines that make the same job as `job` does when it is handed to the scheduler,
// without its other components. Sorted by name.
[[nodiscard]] Directives directives_of(const sched::Submission& job);

// The options of a job that is yet to be submitted, of a heterogeneous one those of its first
// component. Errc::invalid if the run folder cannot be
// written as --output: not absolute, a control byte, a backslash (Slurm then leaves %j as it is),
// or too long.
[[nodiscard]] Result<Directives> make_directives(const spec::JobSpec& spec,
                                                 const plan::Plan& plan,
                                                 const ScriptContext& context);

// The complete script, from the template of that name. Errors as make_directives(),
// render_template() and ShellOutput; not_found without such a template; and for a result that does
// not start the agent or that sbatch would not accept: no #!, a NUL or carriage return, more than 4
// MiB (max_script_size).
[[nodiscard]] Result<std::string> render_sbatch(const spec::JobSpec& spec,
                                                const plan::Plan& plan,
                                                const ScriptContext& context);

// templates/NAME.mustache as it was when the program was built; nullopt: there is none.
[[nodiscard]] std::optional<Template> builtin_template(const std::string& name);

[[nodiscard]] std::vector<std::string> builtin_template_names();

// `value` as sbatch's own lexer reads it back (Slurm 22.05 to 25.05, src/sbatch/opt.c, not a
// shell's): in double quotes, `\` and `"` escaped. Errc::invalid for control bytes and more than
// 1,024 bytes.
[[nodiscard]] Result<std::string> sbatch_quote(std::string_view value);

}  // namespace dts::script
