// SPDX-License-Identifier: Apache-2.0
// Which GPUs a process sees.
#include "core/base/text/text.hpp"
#include "core/lint/rules/facts.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::lint {
namespace {

bool is_list_of_numbers(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789, ") == std::string_view::npos;
}

// True if the list names all GPUs of a node, in an order that suits the program: 3,2,1,0.
bool is_whole_node(const Subject& subject, const std::string& list) {
  constexpr std::uint64_t k_of_a_node = 4;  // at least
  const auto gpus = subject.job.gpus_per_node;
  return gpus && *gpus >= k_of_a_node && split(list, ',').size() == *gpus;
}

void check_gpus_chosen_by_hand(const Subject& subject, Report& report) {
  if (!subject.job.has_gpus || subject.job.is_exclusive) return;
  for (const Assigned& one : subject.runs.assigned) {
    if (one.name != "CUDA_VISIBLE_DEVICES" && one.name != "HIP_VISIBLE_DEVICES" &&
        one.name != "ROCR_VISIBLE_DEVICES")
      continue;
    if (!one.is_literal || one.is_prefix || one.around.is_conditional) continue;
    if (!is_list_of_numbers(trim(one.value.text)) || is_whole_node(subject, one.value.text))
      continue;
    report.add(
        one.span,
        fmt::format("this overrides the GPUs that Slurm gave to the job, and says the same or "
                    "takes those of another one"));
    return;
  }
}

bool hides_peers(const std::string& bind) {
  return bind.find("closest") != std::string::npos || bind.find("single") != std::string::npos ||
         bind.find("per_task") != std::string::npos || bind.find("map") != std::string::npos;
}

bool is_unbound(const Subject& subject) {
  if (subject.says("allow-task-sharing")) return true;  // each task sees all of its job's GPUs
  for (const char* name : {"gpu-bind", "tres-bind"})
    if (const Directive* one = subject.directive(name);
        one != nullptr && one->value.find("none") != std::string::npos)
      return true;
  const auto work = work_of(subject);
  return std::any_of(work.begin(), work.end(), [](const Run* run) {
    const LaunchOption* bind = run->launch.option("gpu-bind");
    return bind != nullptr && bind->value.find("none") != std::string::npos;
  });
}

bool starts_launchers(const Subject& subject) {
  const auto work = work_of(subject);
  return std::any_of(
      work.begin(), work.end(), [](const Run* run) { return run->launch.starts_processes; });
}

void check_gpus_hidden_from_peers(const Subject& subject, Report& report) {
  const bool has_many = subject.job.tasks_on_node().value_or(1) > 1 ||
                        (subject.job.ntasks.value_or(1) > 1 && subject.job.nodes.value_or(1) == 1);
  if (!has_many || subject.job.asks_for_no_gpus || starts_launchers(subject) || is_unbound(subject))
    return;
  if (const Directive* per_task = subject.directive("gpus-per-task")) {
    report.add(per_task->span,
               "each rank sees its own GPU only, so that NCCL cannot copy between them");
    return;
  }
  if (const Directive* bind = subject.directive("gpu-bind");
      bind != nullptr && hides_peers(bind->value)) {
    report.add(bind->span,
               "each rank sees its own GPU only, so that NCCL cannot copy between them");
    return;
  }
  for (const Run* run : work_of(subject))
    for (const char* name : {"gpus-per-task", "gpu-bind"})
      if (const LaunchOption* option = run->launch.option(name);
          option != nullptr &&
          (std::string_view(name) == "gpus-per-task" || hides_peers(option->value))) {
        report.add(option->span,
                   "each rank sees its own GPU only, so that NCCL cannot copy between them");
        return;
      }
}

void check_gpu_requests_disagree(const Subject& subject, Report& report) {
  const Directive* gres = subject.directive("gres");
  const Directive* per_node = subject.directive("gpus-per-node");
  if (gres == nullptr || per_node == nullptr) return;
  const auto one = gpus_in(gres->value, true), other = gpus_in(per_node->value, false);
  if (gres->value.find("gpu") == std::string::npos || !one || !other || *one == *other) return;
  report.add(gres->span,
             fmt::format("{} GPUs for each node here, and --gpus-per-node={}", *one, *other));
}

}  // namespace

std::vector<Rule> gpu_rules() {
  return {
      {.id = "gpus-chosen-by-hand",
       .severity = Severity::warning,
       .title = "the script chooses the GPUs itself",
       .reason = "Slurm sets CUDA_VISIBLE_DEVICES to the GPUs of the job. Where it does not "
                 "confine jobs to their devices, other numbers may be GPUs of other jobs.",
       .fix = "remove it, and request the number of GPUs",
       .check = check_gpus_chosen_by_hand},
      {.id = "gpus-hidden-from-peers",
       .severity = Severity::warning,
       .title = "ranks of a node do not see each other's GPUs",
       .reason = "--gpus-per-task, and --gpu-bind with closest, single or a map, leave one GPU "
                 "visible to each rank: NCCL then copies through the memory of the host, or fails "
                 "(nccl#1066, pyxis#73).",
       .fix = "request --gpus-per-node, and choose by SLURM_LOCALID; or --gpu-bind=none",
       .check = check_gpus_hidden_from_peers},
      {.id = "gpu-requests-disagree",
       .severity = Severity::error,
       .title = "two options ask for different numbers of GPUs",
       .reason = "Slurm takes one of them or refuses the job, depending on the release.",
       .fix = "remove one of them",
       .check = check_gpu_requests_disagree},
  };
}

}  // namespace dts::lint
