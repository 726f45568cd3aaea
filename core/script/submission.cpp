// SPDX-License-Identifier: Apache-2.0
#include "core/script/submission.hpp"

#include "core/base/text/hostlist.hpp"
#include "core/base/text/text.hpp"
#include "core/script/log_link.hpp"
#include "core/spec/exports.hpp"
#include "core/spec/option.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <utility>

namespace dts::script {
namespace {

// The value of --output: the log in the run folder.
std::string output_pattern(const std::string& run_dir, bool is_array) {
  return log_path(escape_pattern(run_dir), is_array ? "%A_%a" : "%j");
}

// How long before its time limit the batch script is warned, in seconds; 0: never. A job without
// --time is warned as well, since its partition may have a limit.
std::chrono::seconds warning_time(const spec::JobSpec& spec, const plan::Plan& plan) {
  const bool unlimited = spec.time == std::chrono::seconds::max();
  return unlimited ? std::chrono::seconds(0) : plan.signal_margin;
}

// What dtsubmit itself needs in the job. sbatch(1) keeps SLURM_CONF, too: without it, commands in
// the job may reach another cluster, or none.
bool is_always_exported(std::string_view name) {
  return name == "HOME" || name == "USER" || name == "LOGNAME" || name == "SLURM_CONF" ||
         name == "SLURM_CONF_SERVER" || name.starts_with("DTSUBMIT_") || name.starts_with("XDG_");
}

// The variables of `environment` that the job gets. Selected here and not by Slurm, whose
// SLURM_EXPORT_ENV would also withhold variables from the job's steps.
std::vector<std::string> exported(std::vector<std::string> environment, const std::string& list) {
  const auto exports = spec::parse_exports(list);
  if (!exports) return environment;  // the option's check refuses it
  const auto name_of = [](const std::string& entry) { return entry.substr(0, entry.find('=')); };
  const auto is_withheld = [&](const std::string& entry) {
    const std::string name = name_of(entry);
    const bool is_set = std::any_of(exports->settings.begin(),
                                    exports->settings.end(),
                                    [&](const std::string& one) { return name_of(one) == name; });
    return is_set || !(spec::passes_on(*exports, name) || is_always_exported(name));
  };
  std::erase_if(environment, is_withheld);
  environment.insert(environment.end(), exports->settings.begin(), exports->settings.end());
  // slurmd reads it, and adds the environment of a login.
  if (exports->logs_in) environment.emplace_back("SLURM_GET_USER_ENV=1");
  return environment;
}

sched::Submission of_one(const spec::JobSpec& spec, const plan::Plan& plan, JobFiles files) {
  sched::Submission submission;
  submission.script = std::move(files.script);
  submission.script_path = std::move(files.script_path);
  submission.environment = std::move(files.environment);
  submission.work_folder = std::move(files.work_folder);
  submission.job_name = plan.job_name;
  submission.partition = spec.partition;
  submission.options = spec.slurm;
  for (const auto& [name, value] : spec.slurm_site) submission.options[name] = value;
  submission.options.erase("no-kill");
  submission.options.erase("ntasks-per-gpu");  // implied by the numbers of ranks and GPUs
  if (const auto list = submission.options.extract("export"))
    submission.environment = exported(std::move(submission.environment), list.mapped());
  for (const spec::Option& row : spec::options())
    if (row.is_for_first_job)
      if (auto given = submission.options.extract(row.long_name().substr(2)))
        submission.once.insert(std::move(given));
  submission.output = output_pattern(files.run_dir, spec.slurm.count("array") > 0);
  submission.nodes = plan.nodes + plan.spares;
  // Otherwise Slurm ends the whole job when it loses one node.
  submission.no_kill = plan.spares > 0 || spec.slurm.count("no-kill") > 0;
  submission.exclude_nodes = fold_hostlist(plan.exclude);
  submission.ntasks_per_node = plan.ntasks_per_node;
  submission.cpus_per_task = plan.cpus_per_task;
  submission.gpus_per_node = plan.gpus_per_node;
  submission.gpu_type = spec.gpu_type;
  submission.memory_mib = spec.memory_mib;
  submission.time_limit = spec.time;
  submission.requeue = spec.requeue;
  if (const auto warning = warning_time(spec, plan); warning.count() > 0) {
    submission.warn_signal = SIGUSR1;
    submission.warn_seconds = static_cast<std::uint32_t>(warning.count());
  }
  return submission;
}

// The component of one role. Its nodes are the role's; time, warning and name are the job's.
sched::Submission of_component(const spec::JobSpec& whole,
                               const plan::Plan& job,
                               std::size_t index,
                               const plan::Plan& role,
                               JobFiles files) {
  plan::Plan plan = role;
  plan.job_name = job.job_name;
  plan.signal_margin = job.signal_margin;
  return of_one(whole.roles.at(index).job, plan, std::move(files));
}

}  // namespace

sched::Submission make_submission(const spec::JobSpec& spec,
                                  const plan::Plan& plan,
                                  JobFiles files) {
  if (!spec.heterogeneous || files.parts.empty()) return of_one(spec, plan, std::move(files));
  const std::vector<plan::Plan> parts = std::move(files.parts);
  sched::Submission submission = of_component(spec, plan, 0, parts.front(), std::move(files));
  for (std::size_t i = 1; i < parts.size(); ++i) {
    sched::Submission component = of_component(spec, plan, i, parts[i], {});
    component.output.clear();
    component.once.clear();
    submission.components.push_back(std::move(component));
  }
  return submission;
}

}  // namespace dts::script
