// SPDX-License-Identifier: Apache-2.0
#include "core/script/submission.hpp"

#include "core/base/hostlist.hpp"

#include <csignal>
#include <utility>

namespace dts::script {

sched::Submission make_submission(const spec::JobSpec& spec,
                                  const plan::Plan& plan,
                                  JobFiles files) {
  sched::Submission submission;
  submission.script = std::move(files.script);
  submission.script_path = std::move(files.script_path);
  submission.environment = std::move(files.environment);
  submission.work_folder = std::move(files.work_folder);
  submission.job_name = plan.job_name;
  submission.partition = spec.partition;
  submission.account = spec.account;
  submission.qos = spec.qos;
  ScriptContext context;
  context.run_dir = std::move(files.run_dir);
  submission.output = output_pattern(context);
  submission.nodes = plan.nodes + plan.spares;
  submission.no_kill = plan.spares > 0;
  submission.exclude_nodes = fold_hostlist(plan.exclude);
  submission.ntasks_per_node = plan.ntasks_per_node;
  submission.cpus_per_task = plan.cpus_per_task;
  submission.gpus_per_node = plan.gpus_per_node;
  submission.memory_mib = spec.memory_mib;
  submission.time_limit = spec.time;
  submission.requeue = spec.requeue;
  if (const auto warning = warning_time(spec, plan); warning.count() > 0) {
    submission.warn_signal = SIGUSR1;
    submission.warn_seconds = static_cast<std::uint32_t>(warning.count());
  }
  return submission;
}

}  // namespace dts::script
