// SPDX-License-Identifier: Apache-2.0
// Jobs that do not come back, and jobs that come back for ever.
#include "core/lint/rules/facts.hpp"

#include <algorithm>
#include <iterator>

namespace dts::lint {
namespace {

bool mentions_return(const Subject& subject) {
  constexpr std::string_view k_words[] = {"resume",
                                          "requeue",
                                          "restart",
                                          "--load",
                                          "load_",
                                          "load-",
                                          "restore",
                                          "continue",
                                          "afterany",
                                          "afternotok",
                                          "afterok",
                                          "singleton",
                                          "last.ckpt",
                                          "latest_",
                                          "snapshot",
                                          "from_check",
                                          "--ckpt",
                                          "ckpt_path"};
  return std::any_of(std::begin(k_words), std::end(k_words), [&](std::string_view word) {
    return subject.says(word);
  });
}

void check_no_return(const Subject& subject, Report& report) {
  const Directive* time = subject.directive("time");
  // A job with a short limit is a test.
  if (time == nullptr || !subject.job.time || *subject.job.time < std::chrono::hours(2)) return;
  for (const char* option : {"signal", "requeue", "dependency"})
    if (subject.directive(option) != nullptr) return;
  const auto work = work_of(subject);
  const bool trains =
      std::any_of(work.begin(), work.end(), [](const Run* run) { return is_training(*run); });
  if (!trains || mentions_return(subject)) return;
  report.add(
      time->span,
      "the job does not come back from this limit: nothing asks for a signal, requeues or resumes");
}

void check_requeue_without_end(const Subject& subject, Report& report) {
  const Run* own = own_requeue(subject);
  if (own == nullptr || own->name() == "trap" || own->around.is_conditional ||
      own->around.is_in_function || subject.says("slurm_restart_count"))
    return;
  report.add(own->span, "the job always requeues itself, forever");
}

void check_array_requeued_whole(const Subject& subject, Report& report) {
  if (!subject.job.is_array) return;
  for (const Run& run : subject.runs.runs) {
    if (base_name(run.name()) != "scontrol" || run.words.size() < 3) continue;
    if (run.words[1].value.text != "requeue") continue;
    const Value& job = run.words[2].value;
    if (!job.mentions("SLURM_JOB_ID") && !job.mentions("SLURM_JOBID")) continue;
    report.add(run.words[2].span,
               "in the last element of an array this is the id of the whole array",
               "",
               {{run.words[2].span, "\"${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}\""}});
  }
}

bool is_itself(const Subject& subject, const std::string& word) {
  if (word == "\x01{0}" || word.find("BASH_SOURCE") != std::string::npos) return true;
  return !subject.file_name.empty() && base_name(word) == subject.file_name;
}

void check_chain_without_end(const Subject& subject, Report& report) {
  for (const Run& run : subject.runs.runs) {
    if (base_name(run.name()) != "sbatch" || run.around.is_conditional) continue;
    if (run.around.is_in_function || subject.says("exit 0")) continue;
    const bool submits_itself =
        std::any_of(run.words.begin() + 1, run.words.end(), [&](const ExpandedWord& word) {
          return is_itself(subject, word.value.text);
        });
    if (submits_itself)
      report.add(run.span, "each job submits the next one, also when there is nothing left to do");
  }
}

}  // namespace

std::vector<Rule> return_rules() {
  return {
      {.id = "no-return",
       .severity = Severity::warning,
       .title = "a training ends at its time limit and does not come back",
       .reason = "The script trains, has a limit of two hours or more, and neither requests a "
                 "signal before it, nor requeues, nor resumes from a checkpoint: someone has to "
                 "continue the training by hand.",
       .fix =
           "save checkpoints and resume from the newest; `dtsubmit` saves and requeues by itself",
       .check = check_no_return},
      {.id = "requeue-without-end",
       .severity = Severity::warning,
       .title = "the job requeues itself without a limit",
       .reason =
           "A job that fails at its start is requeued again and again, until someone notices.",
       .fix = "requeue only while $SLURM_RESTART_COUNT is small and the training has advanced",
       .check = check_requeue_without_end},
      {.id = "array-requeued-whole",
       .severity = Severity::warning,
       .title = "one element of an array requeues all of them",
       .reason = "The last element has the id of the array, so `scontrol requeue $SLURM_JOB_ID` in "
                 "it requeues every element.",
       .fix = "requeue ${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}",
       .check = check_array_requeued_whole,
       .can_fix = true},
      {.id = "chain-without-end",
       .severity = Severity::warning,
       .title = "the job submits itself again without a condition",
       .reason = "Such a chain continues after the training is done, and after each failure.",
       .fix = "submit the next job only if the training is not done and has advanced",
       .check = check_chain_without_end},
  };
}

}  // namespace dts::lint
