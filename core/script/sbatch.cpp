// SPDX-License-Identifier: Apache-2.0
#include "core/script/sbatch.hpp"

#include "core/base/text/signal_name.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/units.hpp"
#include "core/script/submission.hpp"
#include "core/script/template/shell_output.hpp"

#include "templates.inc"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>

namespace dts::script {
namespace {

constexpr std::size_t k_largest_script = std::size_t{4} << 20;
constexpr std::size_t k_longest_value = 1'024;  // Slurm's limit for texts of a job (job_mgr.c)

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

// Appends to `lines`.
Result<void> add_lines(const Directives& directives, std::vector<std::string>& lines) {
  for (const Directive& directive : directives) {
    if (directive.value.empty()) {
      lines.push_back("#SBATCH --" + directive.name);
      continue;
    }
    auto quoted = sbatch_quote(directive.value);
    if (!quoted) return tl::unexpected(std::move(quoted).error().during("--" + directive.name));
    lines.push_back(fmt::format("#SBATCH --{}={}", directive.name, *quoted));
  }
  return {};
}

// The lines of each component, separated as in sbatch(1).
Result<std::vector<std::string>> lines_of(const sched::Submission& job) {
  std::vector<std::string> lines;
  DTS_TRY(add_lines(directives_of(job), lines));
  for (const sched::Submission& component : job.components) {
    lines.emplace_back("#SBATCH hetjob");
    DTS_TRY(add_lines(directives_of(component), lines));
  }
  return lines;
}

Result<sched::Submission> submission_of(const spec::JobSpec& spec,
                                        const plan::Plan& plan,
                                        const ScriptContext& context) {
  DTS_TRY(check_folder(context.run_dir));
  return make_submission(spec, plan, {.run_dir = context.run_dir, .parts = context.parts});
}

nlohmann::json finished_lines(const std::vector<std::string>& lines) {
  nlohmann::json all = nlohmann::json::array();
  for (const std::string& line : lines) all.push_back(finished_text(line));
  return all;
}

// The values available to a template; see TEMPLATES in dtsubmit-render(1).
nlohmann::json values_of(const spec::JobSpec& spec,
                         const plan::Plan& plan,
                         const ScriptContext& context,
                         const std::vector<std::string>& directives) {
  return {{"dtsubmit", context.dtsubmit},
          {"run_dir", context.run_dir},
          {"version", context.version},
          {"directives", finished_lines(directives)},
          {"setup", finished_lines(context.setup)},
          {"job_name", plan.job_name},
          {"partition", spec.partition},
          {"nodes", plan.nodes},
          {"spares", plan.spares},
          {"ntasks_per_node", plan.ntasks_per_node},
          {"world_size", plan.world_size},
          {"gpus_per_node", plan.gpus_per_node},
          {"cpus_per_task", plan.cpus_per_task},
          {"command", plan.command}};
}

std::string agent_command(const ScriptContext& context) {
  return fmt::format(
      "{} agent --run {}", shell_quote(context.dtsubmit), shell_quote(context.run_dir));
}

Result<void> check_script(const std::string& script, const ScriptContext& context) {
  if (script.find('\0') != std::string::npos || script.find('\r') != std::string::npos)
    return fail(Errc::invalid,
                "the batch script contains a NUL or carriage return, which sbatch refuses",
                "look at the set-up lines and the template");
  if (script.size() > k_largest_script)
    return fail(
        Errc::invalid,
        fmt::format(
            "the batch script has {} bytes, Slurm accepts {}", script.size(), k_largest_script));
  if (!script.starts_with("#!"))
    return fail(
        Errc::invalid,
        fmt::format("the script of template `{}` does not begin with #!", context.template_name),
        "let the template begin with #!/bin/bash");
  if (script.find(agent_command(context)) == std::string::npos)
    return fail(
        Errc::invalid,
        fmt::format("the script of template `{}` does not start the agent", context.template_name),
        "let the template end with {{>agent}}");
  return {};
}

}  // namespace

Result<std::string> sbatch_quote(std::string_view value) {
  if (!is_printable(value))
    return fail(Errc::invalid, "contains a control byte, which no #SBATCH line can hold");
  if (value.size() > k_longest_value)
    return fail(
        Errc::invalid,
        fmt::format("is {} bytes long, Slurm accepts at most {}", value.size(), k_longest_value));
  std::string quoted = "\"";
  for (const char c : value) {
    if (c == '\\' || c == '"') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::optional<Template> builtin_template(const std::string& name) {
  for (const auto& [known, text] : k_templates)
    if (known == name) return Template{name + ".mustache", std::string(text)};
  return std::nullopt;
}

std::vector<std::string> builtin_template_names() {
  std::vector<std::string> names;
  for (const auto& [name, text] : k_templates) names.emplace_back(name);
  return names;
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
  // Only written to an array's script: jobs that continue one of its elements use another one.
  if (const auto array = job.once.find("array"); array != job.once.end())
    put(array->first, array->second);
  if (job.cpus_per_task) put("cpus-per-task", std::to_string(*job.cpus_per_task));
  const std::string gpu_type = job.gpu_type.empty() ? "" : job.gpu_type + ":";
  if (job.gpus_per_node > 0) put("gpus-per-node", fmt::format("{}{}", gpu_type, job.gpus_per_node));
  if (job.memory_mib) put("mem", *job.memory_mib == 0 ? "0" : fmt::format("{}M", *job.memory_mib));
  if (job.time_limit) put("time", format_time_limit(*job.time_limit));
  if (job.requeue && !job.options.contains("requeue"))  // unless it has a value, "expedite"
    all.push_back({*job.requeue ? "requeue" : "no-requeue", ""});
  if (job.no_kill) all.push_back({"no-kill", ""});
  // The signal goes only to the batch shell, which has become the agent by then.
  if (job.warn_signal > 0)
    put("signal", fmt::format("B:{}@{}", signal_name(job.warn_signal), job.warn_seconds));
  std::sort(all.begin(), all.end(), [](const Directive& one, const Directive& other) {
    return one.name < other.name;
  });
  return all;
}

Result<Directives> make_directives(const spec::JobSpec& spec,
                                   const plan::Plan& plan,
                                   const ScriptContext& context) {
  return submission_of(spec, plan, context).map(directives_of);
}

Result<std::string> render_sbatch(const spec::JobSpec& spec,
                                  const plan::Plan& plan,
                                  const ScriptContext& context) {
  DTS_ASSIGN(const sched::Submission submission, submission_of(spec, plan, context));
  DTS_ASSIGN(const std::vector<std::string> lines, lines_of(submission));
  const Partials templates = [&](const std::string& name) -> Result<std::optional<Template>> {
    if (context.templates) {
      DTS_ASSIGN(auto found, context.templates(name));
      if (found) return found;
    }
    return builtin_template(name);
  };
  DTS_ASSIGN(const auto main, templates(context.template_name));
  if (!main)
    return fail(
        Errc::not_found,
        fmt::format("there is no template `{}`", context.template_name),
        "`dtsubmit render --list` shows all; a file's name has a slash in it or ends in .mustache");
  ShellOutput script;
  DTS_TRY(render_template(
      *main, values_of(spec, plan, context, lines), templates, Unknown::is_error, script));
  DTS_TRY(check_script(script.text(), context));
  return script.text();
}

}  // namespace dts::script
