// SPDX-License-Identifier: Apache-2.0
#include "core/script/sbatch.hpp"

#include "core/base/text/text.hpp"
#include "core/base/text/units.hpp"
#include "core/script/submission.hpp"
#include "core/script/template.hpp"

#include "sbatch_template.inc"
#include <fmt/format.h>

#include <algorithm>
#include <csignal>

namespace dts::script {
namespace {

constexpr std::size_t k_largest_script = std::size_t{4} << 20;

Result<void> check_folder(const std::string& folder) {
  const auto bad = [&](std::string why) {
    return fail(Errc::invalid,
                fmt::format("the run folder {} {}", shell_quote(folder), why),
                "choose another folder for runs");
  };
  if (folder.empty() || folder[0] != '/') return bad("is not an absolute path");
  if (!is_printable(folder))
    return fail(Errc::invalid,
                "the run folder's path contains a control byte",
                "choose another folder for runs");
  if (folder.find('\\') != std::string::npos)
    return bad("contains a backslash, which turns off Slurm's %j");
  return {};
}

Result<std::vector<std::string>> directive_lines(const Directives& directives) {
  std::vector<std::string> lines;
  for (const Directive& directive : directives) {
    if (directive.value.empty()) {
      lines.push_back("#SBATCH --" + directive.name);
      continue;
    }
    auto quoted = sbatch_quote(directive.value);
    if (!quoted) return tl::unexpected(std::move(quoted).error().during("--" + directive.name));
    lines.push_back(fmt::format("#SBATCH --{}={}", directive.name, *quoted));
  }
  return lines;
}

}  // namespace

std::string_view builtin_sbatch_template() {
  return k_sbatch_template;
}

Directives directives_of(const sched::Submission& job) {
  Directives all = {
      {"job-name", job.job_name},
      {"nodes", std::to_string(job.nodes)},
      {"ntasks-per-node", std::to_string(job.ntasks_per_node)},
      {"open-mode", job.append_output ? "append" : "truncate"},
  };
  const auto put = [&](const std::string& name, std::string value) {
    if (!value.empty()) all.push_back({name, std::move(value)});
  };
  put("output", job.output);
  put("partition", job.partition);
  put("exclude", job.exclude_nodes);
  for (const auto& [name, value] : job.options) all.push_back({name, value});
  if (job.cpus_per_task) put("cpus-per-task", std::to_string(*job.cpus_per_task));
  const std::string gpu_type = job.gpu_type.empty() ? "" : job.gpu_type + ":";
  if (job.gpus_per_node > 0) put("gpus-per-node", fmt::format("{}{}", gpu_type, job.gpus_per_node));
  if (job.memory_mib) put("mem", *job.memory_mib == 0 ? "0" : fmt::format("{}M", *job.memory_mib));
  if (job.time_limit) put("time", format_time_limit(*job.time_limit));
  if (job.requeue) all.push_back({*job.requeue ? "requeue" : "no-requeue", ""});
  if (job.no_kill) all.push_back({"no-kill", ""});
  // To the batch shell only, which by then is the agent.
  if (job.warn_signal > 0)
    put("signal", fmt::format("B:{}@{}", ::sigabbrev_np(job.warn_signal), job.warn_seconds));
  std::sort(all.begin(), all.end(), [](const Directive& one, const Directive& other) {
    return one.name < other.name;
  });
  return all;
}

Result<Directives> make_directives(const spec::JobSpec& spec,
                                   const plan::Plan& plan,
                                   const ScriptContext& context) {
  DTS_TRY(check_folder(context.run_dir));
  return directives_of(make_submission(spec, plan, {.run_dir = context.run_dir}));
}

Result<std::string> render_sbatch(const spec::JobSpec& spec,
                                  const plan::Plan& plan,
                                  const ScriptContext& context) {
  DTS_ASSIGN(const Directives directives, make_directives(spec, plan, context));
  DTS_ASSIGN(std::vector<std::string> lines, directive_lines(directives));
  const Values values{{{"dtsubmit", context.dtsubmit},
                       {"job_name", plan.job_name},
                       {"run_dir", context.run_dir},
                       {"version", context.version}},
                      {{"directives", std::move(lines)}, {"setup", context.setup}}};
  const std::string_view text = context.template_text.empty()
                                    ? builtin_sbatch_template()
                                    : std::string_view(context.template_text);
  DTS_ASSIGN(std::string script, fill_template(text, context.template_name, values));
  if (script.find('\0') != std::string::npos || script.find('\r') != std::string::npos)
    return fail(Errc::invalid,
                "the batch script contains a NUL or carriage return, which sbatch refuses",
                "look at the set-up lines and the template");
  if (script.size() > k_largest_script)
    return fail(
        Errc::invalid,
        fmt::format(
            "the batch script has {} bytes, Slurm accepts {}", script.size(), k_largest_script));
  return script;
}

}  // namespace dts::script
