// SPDX-License-Identifier: Apache-2.0
// Nodes, tasks and GPUs that contradict each other.
#include "core/base/text/text.hpp"
#include "core/lint/rules/facts.hpp"

#include <fmt/format.h>

#include <iterator>

namespace dts::lint {
namespace {

void check_tasks_unevenly_packed(const Subject& subject, Report& report) {
  const Job& job = subject.job;
  if (!job.has_gpus || subject.header.components > 1) return;
  if (!job.nodes || !job.ntasks || job.ntasks_per_node) return;
  if (*job.nodes < 2 || *job.ntasks <= *job.nodes) return;
  for (const char* other :
       {"ntasks-per-gpu", "ntasks-per-socket", "gpus-per-task", "distribution", "ntasks-per-tres"})
    if (subject.directive(other) != nullptr) return;
  const std::uint64_t tasks = *job.ntasks, nodes = *job.nodes;
  report.add(
      subject.directive("ntasks")->span,
      fmt::format("Slurm may put {} of the {} tasks on one node: nothing says how many belong "
                  "on each",
                  tasks - nodes + 1,
                  tasks),
      tasks % nodes == 0 ? fmt::format("write --ntasks-per-node={}", tasks / nodes) : "");
}

void check_tasks_and_nodes_disagree(const Subject& subject, Report& report) {
  const Job& job = subject.job;
  if (subject.header.components > 1 || !job.nodes || !job.ntasks || !job.ntasks_per_node) return;
  const std::uint64_t product = *job.nodes * *job.ntasks_per_node;
  if (product == *job.ntasks) return;
  report.add(subject.directive("ntasks")->span,
             fmt::format("--ntasks={} is not {} nodes x {} tasks = {}",
                         *job.ntasks,
                         *job.nodes,
                         *job.ntasks_per_node,
                         product));
}

void check_interactive_name(const Subject& subject, Report& report) {
  const Directive* name = subject.directive("job-name");
  if (name != nullptr && (name->value == "bash" || name->value == "interactive"))
    report.add(name->span,
               fmt::format("Lightning takes a job named `{}` for an interactive shell, and starts "
                           "its processes itself",
                           name->value));
}

}  // namespace

std::vector<Rule> size_rules() {
  return {
      {.id = "tasks-unevenly-packed",
       .severity = Severity::warning,
       .title = "the number of tasks on each node is not given",
       .reason = "With only --nodes and --ntasks, Slurm fills one node after another: it has "
                 "placed 16 tasks on 2 nodes as 15 and 1, and ranks without a GPU fail.",
       .fix = "write --ntasks-per-node instead of --ntasks",
       .check = check_tasks_unevenly_packed},
      {.id = "tasks-and-nodes-disagree",
       .severity = Severity::warning,
       .title = "--ntasks is not --nodes times --ntasks-per-node",
       .reason = "--ntasks counts, and --ntasks-per-node becomes an upper limit: fewer processes "
                 "than planned are started, or sbatch refuses the script.",
       .fix = "remove --ntasks",
       .check = check_tasks_and_nodes_disagree},
      {.id = "interactive-name",
       .severity = Severity::warning,
       .title = "the job's name turns off Lightning's detection of Slurm",
       .reason = "Lightning ignores Slurm in a job named `bash` or `interactive`.",
       .fix = "choose another --job-name",
       .check = check_interactive_name},
  };
}

}  // namespace dts::lint
