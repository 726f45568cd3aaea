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
  Partials templates{};             // replace built-in templates; null: none
  std::vector<plan::Plan> parts{};  // of the roles of a heterogeneous job
};

// One option of sbatch: --name=value, or --name where `value` is empty. Values are unquoted, as
// Slurm receives them.
struct Directive {
  std::string name;   // "job-name"
  std::string value;  // "train"
};

using Directives = std::vector<Directive>;

// The #SBATCH lines that request the same job as `job`, except its other components, sorted by
// name.
[[nodiscard]] Directives directives_of(const sched::Submission& job);

// The options of a job to be submitted; for a heterogeneous job, of its first component.
// Errc::invalid if the run folder cannot be written as --output: not absolute, a control byte, a
// backslash (Slurm then leaves %j as it is), or too long.
[[nodiscard]] Result<Directives> make_directives(const spec::JobSpec& spec,
                                                 const plan::Plan& plan,
                                                 const ScriptContext& context);

// The complete script, from the template of that name. Errors are those of make_directives(),
// render_template() and ShellOutput; not_found if there is no such template; invalid if the result
// does not start the agent or sbatch would not accept it: no #!, a NUL or carriage return, more
// than 4 MiB (max_script_size).
[[nodiscard]] Result<std::string> render_sbatch(const spec::JobSpec& spec,
                                                const plan::Plan& plan,
                                                const ScriptContext& context);

// The template templates/NAME.mustache as of the build; nullopt if there is none.
[[nodiscard]] std::optional<Template> builtin_template(const std::string& name);

[[nodiscard]] std::vector<std::string> builtin_template_names();

// Quotes `value` for sbatch's own lexer, which is not a shell's (Slurm 22.05 to 25.05,
// src/sbatch/opt.c): in double quotes, with `\` and `"` escaped. Errc::invalid for control bytes
// and more than 1,024 bytes.
[[nodiscard]] Result<std::string> sbatch_quote(std::string_view value);

}  // namespace dts::script
