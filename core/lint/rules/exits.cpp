// SPDX-License-Identifier: Apache-2.0
// Failures that a job's state does not show, because Slurm takes the exit code of the script's last
// command.
#include "core/base/text/text.hpp"
#include "core/lint/rules/facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace dts::lint {
namespace {

bool is_outermost(const Run& run) {
  return run.around.inner == 0 && !run.around.is_in_function && !run.around.is_in_substitution;
}

// The command that decides the job's exit code if nothing follows it.
const Run* last_work(const Subject& subject) {
  const Run* last = nullptr;
  for (const Run* run : outer_work_of(subject))
    if (is_outermost(*run)) last = run;
  return last;
}

// The first command that runs after it, whatever its result.
const Run* follower_of(const Subject& subject, const Run& work) {
  for (const Run& run : subject.runs.runs)
    if (is_outermost(run) && run.statement > work.statement && !run.around.is_conditional)
      return &run;
  return nullptr;
}

// The command whose exit code becomes the job's, for users: the last one, or "what follows" if it
// depends.
std::string last_of(const Subject& subject) {
  const Run* last = nullptr;
  for (const Run& run : subject.runs.runs) {
    if (!is_outermost(run)) continue;
    const bool keeps_code = run.name() == "exit" && run.words.size() < 2;
    if (!keeps_code) last = &run;
  }
  // A command in quotes: ssh HOST "stop.sh; sync".
  const std::string name =
      last == nullptr ? ""
                      : base_name(last->name().substr(0, last->name().find_first_of(" \t\n;")));
  return name.empty() || name[0] == k_unknown || last->around.is_conditional ? "what follows"
                                                                             : "`" + name + "`";
}

// True if the script looks at exit codes after `from`.
bool looks_back(const Subject& subject, std::size_t from) {
  const std::string_view rest =
      std::string_view(subject.plain).substr(std::min(from, subject.plain.size()));
  return rest.find("$?") != std::string_view::npos ||
         rest.find("pipestatus") != std::string_view::npos ||
         rest.find("${?}") != std::string_view::npos;
}

void check_exit_lost(const Subject& subject, Report& report) {
  const Run* work = last_work(subject);
  if (work == nullptr || work->around.is_background || work->around.is_condition) return;
  if (work->around.is_in_loop || turns_on(subject, "errexit") || subject.says(" err\n")) return;
  const Run* follower = follower_of(subject, *work);
  if (follower == nullptr || looks_back(subject, work->span.end)) return;
  if (follower->name() == "exit" && follower->words.size() < 2) return;  // with the code before
  report.add(work->span,
             fmt::format("if this fails, the job still ends with the exit code of {}, as COMPLETED",
                         last_of(subject)));
}

void check_pipe_hides_exit(const Subject& subject, Report& report) {
  if (turns_on(subject, "pipefail") || looks_back(subject, 0)) return;
  const bool stops_at_errors = turns_on(subject, "errexit");
  // If a group of commands precedes the pipe, its last command counts.
  std::map<std::size_t, const Run*> last;
  for (const Run* run : outer_work_of(subject))
    if (run->around.is_piped && !run->around.is_condition) last[run->statement] = run;
  for (const auto& [statement, run] : last) {
    std::vector<Edit> edits;
    if (statement == last.begin()->first && !stops_at_errors)
      edits.push_back(line_before_commands(subject, "set -o pipefail"));
    report.add(run->span,
               "if this fails, the pipeline still ends with the exit code of its last command",
               "",
               std::move(edits));
  }
}

// True unless the command is surely quick. Any other one at the end may take as long as a
// background process.
bool may_wait(const Run& run) {
  const std::string name = base_name(run.name());
  return name != "echo" && name != "printf" && name != "date" && name != "exit";
}

void check_step_not_waited_for(const Subject& subject, Report& report) {
  const auto work = outer_work_of(subject);
  if (work.empty() || !work.back()->around.is_background || !is_outermost(*work.back())) return;
  const auto& runs = subject.runs.runs;
  const bool is_waited_for = std::any_of(runs.begin(), runs.end(), [&](const Run& run) {
    return run.span.begin > work.back()->span.begin && run.around.inner == 0 && may_wait(run);
  });
  if (!is_waited_for)
    report.add(work.back()->span, "the script ends at once, and Slurm then kills this command");
}

void check_wait_forgets_exit(const Subject& subject, Report& report) {
  const auto work = work_of(subject);
  const bool has_background = std::any_of(
      work.begin(), work.end(), [](const Run* run) { return run->around.is_background; });
  if (!has_background || subject.says("wait -n") || subject.says("$!")) return;
  const Run* last = nullptr;
  for (const Run& run : subject.runs.runs)
    if (is_outermost(run)) last = &run;
  if (last != nullptr && last->name() == "wait" && last->words.size() == 1)
    report.add(last->span,
               "`wait` without a process id returns 0, whatever became of the commands");
}

}  // namespace

std::vector<Rule> exit_rules() {
  return {
      {.id = "exit-lost",
       .severity = Severity::warning,
       .title = "a failure of the training looks like success",
       .reason = "The job's exit code is that of the script's last command. An `echo done` after a "
                 "failed training makes the job COMPLETED: nothing requeues it, jobs that depend "
                 "on it start, and nobody notices.",
       .fix = "put `set -e` before it, or keep its code, `rc=$?`, and end with `exit $rc`",
       .check = check_exit_lost,
       .reads_lines = true},
      {.id = "pipe-hides-exit",
       .severity = Severity::warning,
       .title = "a pipeline hides the exit code of the training",
       .reason = "The exit code of `srun ... | tee log` is that of tee.",
       .fix = "set -o pipefail",
       .check = check_pipe_hides_exit,
       .can_fix = true,
       .reads_lines = true},
      {.id = "step-not-waited-for",
       .severity = Severity::error,
       .title = "the script ends while its last command runs in the background",
       .reason = "Slurm ends the job when the batch script ends, and kills what is left.",
       .fix = "end the script with `wait`",
       .check = check_step_not_waited_for},
      {.id = "wait-forgets-exit",
       .severity = Severity::note,
       .title = "`wait` alone always returns 0",
       .reason = "Without arguments, wait returns 0 once all children have ended (bash(1)), so the "
                 "job is COMPLETED even if one of them failed.",
       .fix = "keep the process ids, and wait for each one: srun ... & pid=$!; wait $pid",
       .check = check_wait_forgets_exit},
  };
}

}  // namespace dts::lint
