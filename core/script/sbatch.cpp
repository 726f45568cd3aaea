// SPDX-License-Identifier: Apache-2.0
#include "core/script/sbatch.hpp"

#include "core/base/hostlist.hpp"
#include "core/base/text.hpp"
#include "core/base/units.hpp"
#include "core/script/template.hpp"

#include "sbatch_template.inc"
#include <fmt/format.h>

#include <algorithm>

namespace dts::script {
namespace {

constexpr std::size_t k_largest_script = std::size_t{4} << 20;

// Literal text in one of Slurm's file name patterns (sbatch(1), FILENAME PATTERN).
std::string escape_pattern(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '%') escaped += '%';
    escaped += c;
  }
  return escaped;
}

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

std::string output_pattern(const ScriptContext& context) {
  return escape_pattern(context.run_dir) + "/" + context.log_pattern;
}

std::chrono::seconds warning_time(const spec::JobSpec& spec, const plan::Plan& plan) {
  const bool unlimited = spec.time == std::chrono::seconds::max();
  return unlimited ? std::chrono::seconds(0) : plan.signal_margin;
}

Result<Directives> make_directives(const spec::JobSpec& spec,
                                   const plan::Plan& plan,
                                   const ScriptContext& context) {
  DTS_TRY(check_folder(context.run_dir));
  Directives all = {
      {"cpus-per-task", std::to_string(plan.cpus_per_task)},
      {"job-name", plan.job_name},
      {"nodes", std::to_string(plan.nodes + plan.spares)},
      {"ntasks-per-node", std::to_string(plan.ntasks_per_node)},
      {"open-mode", "append"},
      {"output", output_pattern(context)},
      {spec.requeue ? "requeue" : "no-requeue", ""},
  };
  const auto put = [&](const char* name, std::string value) {
    if (!value.empty()) all.push_back({name, std::move(value)});
  };
  // Else Slurm ends the whole job with the first node that it loses.
  if (plan.spares > 0) all.push_back({"no-kill", ""});
  put("exclude", fold_hostlist(plan.exclude));
  put("account", spec.account);
  put("partition", spec.partition);
  put("qos", spec.qos);
  if (plan.gpus_per_node > 0) put("gpus-per-node", std::to_string(plan.gpus_per_node));
  if (spec.memory_mib)
    put("mem", *spec.memory_mib == 0 ? "0" : fmt::format("{}M", *spec.memory_mib));
  if (spec.time) put("time", format_time_limit(*spec.time));
  // To the batch shell only, which by then is the agent.
  if (const auto warning = warning_time(spec, plan); warning.count() > 0)
    put("signal", fmt::format("B:USR1@{}", warning.count()));
  std::sort(all.begin(), all.end(), [](const Directive& a, const Directive& b) {
    return a.name < b.name;
  });
  return all;
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
            "the batch script has {} bytes, Slurm takes {}", script.size(), k_largest_script));
  return script;
}

}  // namespace dts::script
