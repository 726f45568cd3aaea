// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/submission.hpp"

#include "core/base/files.hpp"
#include "core/base/text.hpp"

#include <fmt/format.h>

#include <csignal>

namespace dts::cli {
namespace {

// A list of codes and ranges, "85,90-99" (slurm.conf(5), RequeueExit).
bool lists(const std::string& codes, unsigned code) {
  for (const std::string& item : split(codes, ',')) {
    const std::size_t dash = item.find('-');
    const auto low = parse_number(trim(std::string_view(item).substr(0, dash)));
    const auto high = dash == std::string::npos
                          ? low
                          : parse_number(trim(std::string_view(item).substr(dash + 1)));
    if (low && high && *low <= code && code <= *high) return true;
  }
  return false;
}

}  // namespace

sched::Submission make_submission(const Prepared& prepared, std::vector<std::string> environment) {
  const spec::JobSpec& spec = prepared.spec;
  const plan::Plan& plan = prepared.plan;
  sched::Submission submission;
  submission.script = prepared.script;
  submission.script_path = prepared.directory().script();
  submission.environment = std::move(environment);
  submission.work_folder = absolute_path(".");
  submission.job_name = plan.job_name;
  submission.partition = spec.partition;
  submission.account = spec.account;
  submission.qos = spec.qos;
  submission.output = script::output_pattern(prepared.context);
  submission.nodes = plan.nodes;
  submission.ntasks_per_node = plan.ntasks_per_node;
  submission.cpus_per_task = plan.cpus_per_task;
  submission.gpus_per_node = plan.gpus_per_node;
  submission.memory_mib = spec.memory_mib;
  submission.time_limit = spec.time;
  submission.requeue = spec.requeue;
  if (const auto warning = script::warning_time(spec, plan); warning.count() > 0) {
    submission.warn_signal = SIGUSR1;
    submission.warn_seconds = static_cast<std::uint32_t>(warning.count());
  }
  return submission;
}

Result<void> check_exit_codes(sched::Scheduler& scheduler) {
  DTS_ASSIGN(const sched::ConfigInfo config, scheduler.config());
  for (const unsigned code : {85U, 93U}) {
    for (const auto& [key, codes] : {std::pair{"RequeueExit", config.requeue_exit},
                                     {"RequeueExitHold", config.requeue_exit_hold}})
      if (lists(codes, code))
        return fail(
            Errc::invalid,
            fmt::format("this site's {} lists exit code {}, which dtsubmit uses itself", key, code),
            "ask the administrators to take it off that list");
  }
  return {};
}

}  // namespace dts::cli
