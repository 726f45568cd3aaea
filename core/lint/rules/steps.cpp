// SPDX-License-Identifier: Apache-2.0
// Steps, and which of the job's resources srun gives them.
#include "core/base/text/text.hpp"
#include "core/lint/rules/facts.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::lint {
namespace {

bool is_step(const Run& run) {
  return run.around.inner == 0 && run.launch.launcher == Launcher::srun;
}

bool sets_cores(const Launch& launch) {
  for (const char* name : {"cpus-per-task", "cpus-per-gpu", "exclusive", "whole", "tres-per-task"})
    if (launch.option(name) != nullptr) return true;
  // The user binds cores, or leaves it to the program.
  for (const char* name : {"cpu-bind", "cpu_bind"})
    if (const LaunchOption* bind = launch.option(name))
      for (const char* way : {"mask", "map", "none", "no"})
        if (bind->value.find(way) != std::string::npos) return true;
  return false;
}

void check_srun_loses_cores(const Subject& subject, Report& report) {
  const Directive* cores = subject.directive("cpus-per-task");
  if (cores == nullptr || cores->value == "1" || subject.says("srun_cpus_per_task")) return;
  for (const Run* run : work_of(subject)) {
    if (run->launch.launcher != Launcher::srun) continue;
    if (sets_cores(run->launch) || run->launch.has_unknown_options) continue;
    report.add(subject.place_of("srun", run->span),
               fmt::format("srun does not inherit --cpus-per-task={}: each task may get one core",
                           cores->value),
               "",
               {line_before_commands(subject, "export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK")});
    return;
  }
}

bool has_own_input(const Run& run) {
  if (run.launch.option("input") != nullptr) return true;
  return std::any_of(run.redirections.begin(), run.redirections.end(), [](const auto* one) {
    return one->sign[0] == '<';
  });
}

void check_srun_eats_input(const Subject& subject, Report& report) {
  for (const Run& run : subject.runs.runs) {
    if (!is_step(run) || !run.around.reads_loop_input || run.around.is_background) continue;
    if (run.around.is_in_substitution || has_own_input(run)) continue;
    report.add(run.span, "srun reads the rest of the list that the loop reads: the loop runs once");
    return;
  }
}

// True if the step takes all of the job's resources.
bool takes_all(const Launch& launch) {
  if (launch.has_unknown_options) return false;
  for (const char* name : {"overlap",
                           "exact",
                           "nodes",
                           "ntasks",
                           "nodelist",
                           "relative",
                           "exclude",
                           "het-group",
                           "exclusive",
                           "ntasks-per-node",
                           "mem",
                           "gpus",
                           "gres",
                           "cpus-per-task",
                           "jobid",
                           "multi-prog",
                           "overcommit"})
    if (launch.option(name) != nullptr) return false;
  return true;
}

void check_steps_in_line(const Subject& subject, Report& report) {
  const Run* first = nullptr;
  for (const Run& run : subject.runs.runs) {
    if (!is_step(run)) {
      if (run.name() == "wait") first = nullptr;
      continue;
    }
    if (run.around.is_in_substitution || run.around.is_in_function) continue;
    if (first != nullptr && run.launch.option("overlap") == nullptr &&
        !run.launch.has_unknown_options) {
      report.add(run.span,
                 "this step waits until the one in the background has ended, which has all of the "
                 "job");
      return;
    }
    if (run.around.is_background && takes_all(run.launch)) first = &run;
  }
}

void check_export_reaches_steps(const Subject& subject, Report& report) {
  const Directive* exported = subject.directive("export");
  if (exported == nullptr || exported->value.find("ALL") != std::string::npos) return;
  if (subject.says("slurm_export_env") || subject.says("srun_export_env")) return;
  for (const Run* run : work_of(subject)) {
    if (run->launch.launcher != Launcher::srun || run->launch.option("export") != nullptr) continue;
    if (run->launch.has_unknown_options) continue;
    report.add(exported->span,
               fmt::format("srun inherits --export={}: what the script exports does not reach the "
                           "ranks",
                           exported->value),
               "",
               {line_before_commands(subject, "export SLURM_EXPORT_ENV=ALL")});
    return;
  }
}

void check_step_larger_than_job(const Subject& subject, Report& report) {
  if (!subject.job.nodes || subject.header.components > 1) return;
  for (const Run& run : subject.runs.runs) {
    if (!is_step(run)) continue;
    const LaunchOption* nodes = run.launch.option("nodes");
    const auto number = nodes == nullptr ? std::nullopt : parse_number(nodes->value);
    if (number && *number > *subject.job.nodes)
      report.add(
          nodes->span,
          fmt::format(
              "a step of {} nodes does not fit into a job of {}", *number, *subject.job.nodes));
  }
}

void check_ranks_exceed_slots(const Subject& subject, Report& report) {
  const Job& job = subject.job;
  if (subject.header.components > 1) return;
  auto slots = job.ntasks;
  if (!slots && job.ntasks_per_node && job.nodes) slots = *job.ntasks_per_node * *job.nodes;
  if (!slots) return;
  for (const Run& run : subject.runs.runs) {
    const Launch& launch = run.launch;
    if (launch.launcher != Launcher::mpirun || launch.has_unknown_options) continue;
    if (launch.option("oversubscribe") != nullptr || launch.option("map-by") != nullptr ||
        launch.option("hostfile") != nullptr || launch.option("host") != nullptr ||
        launch.option("H") != nullptr)
      continue;
    for (const char* name : {"np", "n"})
      if (const LaunchOption* option = launch.option(name))
        if (const auto ranks = parse_number(option->value); ranks && *ranks > *slots)
          report.add(
              option->span,
              fmt::format(
                  "{} ranks are asked of mpirun, and the job has slots for {}", *ranks, *slots));
  }
}

}  // namespace

std::vector<Rule> step_rules() {
  return {
      {.id = "srun-loses-cores",
       .severity = Severity::warning,
       .title = "the job's --cpus-per-task is not inherited by srun",
       .reason =
           "From 22.05 to 23.02, srun ignores the job's --cpus-per-task: each task is bound to one "
           "core, which it shares with its data loaders. 23.11 restored the old behaviour.",
       .fix = "export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK, or give srun --cpus-per-task",
       .check = check_srun_loses_cores,
       .since = {22, 5},
       .until = {23, 11},
       .can_fix = true},
      {.id = "srun-eats-input",
       .severity = Severity::error,
       .title = "a step in a loop reads the loop's input",
       .reason = "srun passes its standard input to the tasks, and so consumes the lines that "
                 "`while read` has not read yet.",
       .fix = "srun --input=none, or < /dev/null",
       .check = check_srun_eats_input},
      {.id = "steps-in-line",
       .severity = Severity::warning,
       .title = "a step waits for one in the background",
       .reason = "Since 20.11, steps do not share cores by default: a step that takes the whole "
                 "job makes the next one wait (`Step creation temporarily disabled`).",
       .fix = "give each its share (--ntasks, --nodes, --exact), or add --overlap to the small one",
       .check = check_steps_in_line},
      {.id = "export-reaches-steps",
       .severity = Severity::warning,
       .title = "--export of the job also keeps variables from its steps",
       .reason = "sbatch --export=NONE, or with a list without ALL, sets SLURM_EXPORT_ENV, which "
                 "srun obeys: ranks lack the PATH of the loaded modules, MASTER_ADDR and the like.",
       .fix = "export SLURM_EXPORT_ENV=ALL in the script, or srun --export=ALL",
       .check = check_export_reaches_steps,
       .can_fix = true},
      {.id = "step-larger-than-job",
       .severity = Severity::error,
       .title = "a step asks for more nodes than the job has",
       .reason = "srun ends with `More processors requested than permitted`, or waits.",
       .fix = "make the two agree; $SLURM_NNODES in the script is the number of nodes",
       .check = check_step_larger_than_job},
      {.id = "ranks-exceed-slots",
       .severity = Severity::error,
       .title = "mpirun is asked for more ranks than the job has tasks",
       .reason = "Open MPI ends with `There are not enough slots available`.",
       .fix = "omit -np: mpirun starts one rank for each task of the job",
       .check = check_ranks_exceed_slots},
  };
}

}  // namespace dts::lint
