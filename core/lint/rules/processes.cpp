// SPDX-License-Identifier: Apache-2.0
// Which processes are started, on how many nodes, and which ranks they have.
#include "core/base/text/text.hpp"
#include "core/lint/rules/facts.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::lint {
namespace {

// True for `eval $CMD` if the text begins with a value from the environment: "$LAUNCHER python
// train.py".
bool evaluates_unknown_command(const Run& run) {
  return base_name(run.name()) == "eval" && run.words.size() > 1 &&
         run.words[1].value.text.starts_with(std::string(1, k_unknown) + "{");
}

// True if something may be started on other nodes in a way that we cannot see.
bool may_reach_nodes(const Subject& subject) {
  const auto& runs = subject.runs.runs;
  if (std::any_of(runs.begin(), runs.end(), evaluates_unknown_command)) return true;
  for (const char* word :
       {"srun",  "mpirun", "mpiexec",   "ssh",      "pdsh",     "clush",     "hostfile", "parallel",
        "ray",   "dask",   "deepspeed", "submitit", "horovod",  "snakemake", "nextflow", "ibrun",
        "jsrun", "aprun",  "make ",     ".sh",      "dtsubmit", "prun",      "sbatch"})
    if (subject.says(word)) {
      // The word in "#SBATCH" lines is in comments, which says() ignores.
      return true;
    }
  return false;
}

void check_nodes_idle(const Subject& subject, Report& report) {
  if (!subject.job.has_many_nodes() || may_reach_nodes(subject)) return;
  const auto work = work_of(subject);
  if (work.empty()) return;
  report.add(work.front()->span,
             fmt::format("this runs on the first of the {} nodes only: nothing starts it on the "
                         "others",
                         *subject.job.nodes));
}

// The option for the number of processes that torchrun and the like start per node; nullopt:
// absent, or not a number.
std::optional<ProgramOption> processes_option(const Run& run) {
  for (const char* name :
       {"nproc-per-node", "nproc_per_node", "num_gpus", "num_processes_per_node"})
    if (auto option = program_option(run.words, run.launch.program_at, name)) return option;
  return std::nullopt;
}

bool is_many(const std::optional<ProgramOption>& processes) {
  if (!processes) return false;
  const auto number = written_number(processes->value);
  return number ? *number > 1 : true;  // "gpu", "auto", a variable
}

void check_tasks_times_processes(const Subject& subject, Report& report) {
  const auto tasks = subject.job.tasks_on_node();
  if (!tasks || *tasks < 2) return;
  for (const Run* run : work_of(subject)) {
    const Launch& launch = run->launch;
    if (launch.launcher != Launcher::srun || !launch.starts_processes) continue;
    if (launch.has_unknown_options || launch.option("ntasks") != nullptr ||
        launch.option("ntasks-per-node") != nullptr)
      continue;
    const auto processes = processes_option(*run);
    // deepspeed takes all GPUs of its node unless it is given a number.
    const bool takes_all =
        launch.program == "accelerate" || (launch.program == "deepspeed" && !processes);
    if (!is_many(processes) && !takes_all) continue;
    report.add(
        run->span,
        fmt::format("srun starts {} {} times on each node, and each of these starts a process "
                    "for every GPU",
                    launch.program,
                    *tasks),
        "write --ntasks-per-node=1");
    return;
  }
}

void check_more_processes_than_gpus(const Subject& subject, Report& report) {
  const auto gpus = subject.job.gpus_per_node;
  if (!gpus) return;
  for (const Run* run : work_of(subject)) {
    if (!run->launch.starts_processes) continue;
    const auto processes = processes_option(*run);
    if (!processes || !processes->value.is_certain) continue;
    const auto number = written_number(processes->value);
    if (!number || *number <= *gpus) continue;
    report.add(
        processes->span,
        fmt::format("{} processes for each node, which has {} of the job's GPUs", *number, *gpus));
    return;
  }
}

bool is_number_of_nodes(const std::string& name) {
  const std::string lower = in_lower_case(name);
  return lower == "nnodes" || lower == "num_nodes" || lower == "n_nodes" || lower == "nb_nodes" ||
         lower == "number_of_nodes";
}

// True if the variable's value is given to a launcher: --nnodes $NAME.
bool is_number_of_launcher(const Subject& subject, const std::string& name) {
  const std::string lower = in_lower_case(name);
  for (const std::string& use : {"$" + lower, "${" + lower})
    for (std::size_t at = subject.plain.find(use); at != std::string::npos;
         at = subject.plain.find(use, at + 1)) {
      std::size_t end = at;
      while (end > 0 &&
             std::string_view(" =\"'\\").find(subject.plain[end - 1]) != std::string_view::npos)
        --end;
      const std::string_view before = std::string_view(subject.plain).substr(0, end);
      for (const char* option : {"nnodes", "num_machines", "num_nodes", "num-nodes", "nodes"})
        if (before.ends_with(option)) return true;
    }
  return false;
}

struct WrittenNodes {
  std::uint64_t number;
  Span span;
};

// Numbers of nodes that the script states literally.
std::vector<WrittenNodes> written_nodes(const Subject& subject) {
  std::vector<WrittenNodes> found;
  for (const Assigned& one : subject.runs.assigned) {
    if (!is_number_of_nodes(one.name) || !one.is_literal || one.around.is_conditional) continue;
    if (const auto number = written_number(one.value);
        number && is_number_of_launcher(subject, one.name))
      found.push_back({*number, one.span});
  }
  for (const Run* run : work_of(subject)) {
    if (!run->launch.starts_processes) continue;
    for (const char* name : {"nnodes", "num_machines", "num_nodes"})
      if (const auto option = program_option(run->words, run->launch.program_at, name)) {
        const auto number = written_number(option->value);
        const std::string_view typed =
            subject.text.substr(option->span.begin, option->span.end - option->span.begin);
        if (number && typed.find(option->value.text) != std::string_view::npos)
          found.push_back({*number, subject.place_of(std::string("--") + name, option->span)});
      }
  }
  return found;
}

void check_nodes_disagree(const Subject& subject, Report& report) {
  const auto nodes = subject.job.nodes;
  if (!nodes || subject.header.components > 1) return;
  for (const WrittenNodes& one : written_nodes(subject))
    if (one.number != *nodes)
      report.add(
          one.span,
          fmt::format("{} nodes here, and --nodes={} in the job's options", one.number, *nodes));
}

void check_nodes_written_out(const Subject& subject, Report& report) {
  const auto nodes = subject.job.nodes;
  if (!nodes || *nodes < 2) return;
  for (const WrittenNodes& one : written_nodes(subject)) {
    if (one.number != *nodes) continue;
    report.add(one.span, "the number of nodes is written out, and must be changed in two places");
    return;
  }
}

void check_rank_of_batch_shell(const Subject& subject, Report& report) {
  if (!subject.job.has_many_tasks()) return;
  for (const Run& run : subject.runs.runs) {
    if (run.around.inner > 0 || run.launch.launcher != Launcher::srun) continue;
    if (run.around.is_in_substitution) continue;
    for (std::size_t i = run.launch.program_at; i < run.words.size(); ++i)
      for (const char* name : {"SLURM_PROCID", "SLURM_NODEID", "SLURM_LOCALID"}) {
        if (!run.words[i].value.mentions(name)) continue;
        report.add(subject.place_of(name, run.words[i].span),
                   fmt::format("the batch shell expands ${} before srun starts: it is 0 for every "
                               "task",
                               name));
        return;
      }
  }
}

// Where the arguments of the training script begin: behind train.py of torchrun train.py, or the
// module of torchrun -m NAME.
std::size_t begin_of_arguments(const Run& run) {
  const bool is_module = is_python(run.launch.program);  // python -m torch.distributed.run
  for (std::size_t i = run.launch.program_at + (is_module ? 3 : 1); i < run.words.size(); ++i) {
    const std::string& word = run.words[i].value.text;
    if (word.ends_with(".py") || word == "-m" || word == "--module") return run.words[i].span.end;
  }
  return run.span.end;
}

// srun torchrun --node_rank \$SLURM_NODEID: no shell is between srun and torchrun.
void check_rank_not_expanded(const Subject& subject, Report& report) {
  for (const Run* run : work_of(subject))
    for (const char* name : {"node_rank", "machine_rank"}) {
      if (run->launch.launcher != Launcher::srun || !run->launch.starts_processes ||
          run->around.inner > 0)
        continue;
      const auto option = program_option(run->words, run->launch.program_at, name);
      if (!option || option->span.begin >= begin_of_arguments(*run) ||
          !option->value.text.starts_with("$") ||
          option->value.text.find("SLURM_") == std::string::npos)
        continue;
      report.add(option->span,
                 fmt::format("srun passes `{}` on as it is: there is no shell that expands it",
                             option->value.text));
    }
}

}  // namespace

std::vector<Rule> process_rules() {
  return {
      {.id = "nodes-idle",
       .severity = Severity::error,
       .title = "only the first node of the job is used",
       .reason = "A batch script runs on the first node. Without srun, mpirun or the like, nothing "
                 "runs on the others, although the job pays for them; torchrun waits for them "
                 "until it gives up.",
       .fix = "put srun before it",
       .check = check_nodes_idle},
      {.id = "tasks-times-processes",
       .severity = Severity::error,
       .title = "a launcher is started once for each GPU",
       .reason = "torchrun, accelerate and deepspeed start a process for each GPU themselves, so "
                 "one task per node is enough; with one task per GPU, 8 GPUs get 64 processes.",
       .fix = "--ntasks-per-node=1",
       .check = check_tasks_times_processes},
      {.id = "more-processes-than-gpus",
       .severity = Severity::error,
       .title = "more processes are started than the job has GPUs",
       .reason = "The last processes find no device, or share one until its memory is full.",
       .fix = "make both agree; $SLURM_GPUS_ON_NODE is the number of GPUs",
       .check = check_more_processes_than_gpus},
      {.id = "nodes-disagree",
       .severity = Severity::error,
       .title = "the number of nodes written in the script is not that of the job",
       .reason = "The rendezvous waits for nodes that never come, or some nodes are not used.",
       .fix = "use $SLURM_NNODES",
       .check = check_nodes_disagree},
      {.id = "nodes-written-out",
       .severity = Severity::note,
       .title = "the number of nodes is written twice",
       .reason = "Whoever changes --nodes, in the script or on sbatch's command line, must also "
                 "change the other place.",
       .fix = "use $SLURM_NNODES",
       .check = check_nodes_written_out},
      {.id = "rank-of-batch-shell",
       .severity = Severity::error,
       .title = "the rank is expanded by the batch shell",
       .reason = "SLURM_PROCID, SLURM_NODEID and SLURM_LOCALID are 0 in the batch shell. Outside "
                 "single quotes, the shell puts that 0 into the command of every task: each one "
                 "believes that it is the first, and the rendezvous hangs.",
       .fix = "let each task expand it: srun bash -c '... $SLURM_NODEID ...'",
       .check = check_rank_of_batch_shell},
      {.id = "rank-not-expanded",
       .severity = Severity::error,
       .title = "nothing expands the variable with the rank",
       .reason = "With a backslash or in single quotes, the batch shell leaves the variable as it "
                 "is, and srun starts the program without a shell: the launcher gets the letters "
                 "`$SLURM_PROCID` and refuses them.",
       .fix = "let each task expand it: srun bash -c '... $SLURM_NODEID ...'",
       .check = check_rank_not_expanded},
  };
}

}  // namespace dts::lint
