// SPDX-License-Identifier: Apache-2.0
// Which processes --signal reaches. Sources: Slurm's slurmstepd, srun(1), bash(1) SIGNALS.
#include "core/lint/rules/facts.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::lint {
namespace {

bool ends_a_shell(const std::string& signal) {
  return signal != "CHLD" && signal != "CONT" && signal != "URG" && signal != "WINCH";
}

bool runs_exec(const Subject& subject) {
  const auto& runs = subject.runs.runs;
  return std::any_of(runs.begin(), runs.end(), [](const Run& run) {
    return run.name() == "exec" && run.words.size() > 1;
  });
}

void check_signal_untrapped(const Subject& subject, Report& report) {
  const auto asked = asked_signal(subject);
  if (!asked || !asked->is_for_shell || !ends_a_shell(asked->name)) return;
  if (!subject.is_shell || runs_exec(subject) || subject.says("trap")) return;
  report.add(
      asked->span,
      fmt::format("SIG{} ends the script: only its shell gets it, and nothing there traps it",
                  asked->name));
}

void check_trap_delayed(const Subject& subject, Report& report) {
  const auto asked = asked_signal(subject);
  if (!asked || !asked->is_for_shell) return;
  const auto traps = traps_for(subject, asked->name);
  if (traps.empty() || subject.runs_command("wait")) return;
  for (const Run* run : work_of(subject)) {
    if (run->around.is_background) continue;
    report.add(
        run->span,
        fmt::format("the trap for SIG{} runs only after this command has ended", asked->name));
    return;
  }
}

// trap requeue USR1, in a script without --signal that sends itself nothing.
void check_signal_never_sent(const Subject& subject, Report& report) {
  const bool is_option_open =
      subject.directive("signal") != nullptr || subject.header.directives.empty();
  if (is_option_open || subject.says("kill -") || subject.says("scancel")) return;
  for (const char* const name : {"USR1", "USR2"})
    for (const Run* trap : traps_for(subject, name)) {
      if (trap->around.inner > 0) continue;  // in a shell within a step
      report.add(
          trap->span,
          fmt::format("nothing sends SIG{} to this shell: Slurm does so only with --signal=B:",
                      name),
          fmt::format("#SBATCH --signal=B:{}@120", name));
      return;
    }
}

void check_signal_misses_shell(const Subject& subject, Report& report) {
  const auto asked = asked_signal(subject);
  if (!asked) return check_signal_never_sent(subject, report);
  if (asked->is_for_shell) return;
  for (const Run* trap : traps_for(subject, asked->name)) {
    if (trap->around.inner > 0) continue;  // in a shell within a step
    report.add(asked->span,
               fmt::format("the trap of the script does not see SIG{}: without B: it goes to the "
                           "steps only",
                           asked->name),
               fmt::format("write --signal=B:{}", subject.directive("signal")->value));
    return;
  }
}

void check_signal_kills_launcher(const Subject& subject, Report& report) {
  const auto asked = asked_signal(subject);
  if (!asked || asked->is_for_shell || (asked->name != "USR1" && asked->name != "USR2")) return;
  if (subject.says("torchelastic_signals_to_handle")) return;
  for (const Run* run : work_of(subject)) {
    if (run->launch.launcher != Launcher::srun || !run->launch.starts_processes) continue;
    report.add(asked->span,
               fmt::format("SIG{} ends {} and with it the ranks, before they can save",
                           asked->name,
                           run->launch.program));
    return;
  }
}

void check_signal_misses_ranks(const Subject& subject, Report& report) {
  const auto asked = asked_signal(subject);
  const auto work = work_of(subject);
  if (!asked || asked->is_for_shell || work.empty()) return;
  const bool is_mpirun = std::all_of(work.begin(), work.end(), [](const Run* run) {
    return run->launch.launcher == Launcher::mpirun;
  });
  if (is_mpirun)
    report.add(asked->span,
               fmt::format("SIG{} goes to steps of srun; the ranks that mpirun starts on the first "
                           "node get nothing",
                           asked->name));
}

}  // namespace

std::vector<Rule> signal_rules() {
  return {
      {.id = "signal-untrapped",
       .severity = Severity::error,
       .title = "the signal before the time limit ends the script",
       .reason = "--signal=B: sends the signal to the batch shell only. A shell without a trap for "
                 "it dies, and Slurm then kills its processes: the job fails that much earlier, "
                 "and the ranks have KillWait, 30 s, to save.",
       .fix = "trap it, or omit B: to send it to the ranks",
       .check = check_signal_untrapped},
      {.id = "trap-delayed",
       .severity = Severity::warning,
       .title = "a trap waits for the command in the foreground",
       .reason = "bash runs a trap only after the foreground command has ended, which here is the "
                 "training itself: the time limit comes first.",
       .fix = "start it with `&` and then `wait`; after the trap, `wait` again",
       .check = check_trap_delayed},
      {.id = "signal-misses-shell",
       .severity = Severity::warning,
       .title = "the script traps a signal that it does not get",
       .reason = "Without B:, --signal goes to the job's steps, not to the batch shell. Without "
                 "--signal, Slurm sends no signal of that kind before the time limit.",
       .fix = "write --signal=B:NAME@SECONDS",
       .check = check_signal_misses_shell},
      {.id = "signal-kills-launcher",
       .severity = Severity::warning,
       .title = "the signal ends torchrun instead of reaching the ranks",
       .reason = "srun passes the signal to its child, the launcher. USR1 and USR2 end it, unless "
                 "TORCHELASTIC_SIGNALS_TO_HANDLE names them.",
       .fix = "export TORCHELASTIC_SIGNALS_TO_HANDLE=SIGTERM,SIGINT,SIGUSR1,SIGUSR2, or start the "
              "ranks with srun itself",
       .check = check_signal_kills_launcher},
      {.id = "signal-misses-ranks",
       .severity = Severity::warning,
       .title = "the signal does not reach the ranks of mpirun",
       .reason = "mpirun runs in the batch step, to which --signal without B: sends nothing.",
       .fix = "write --signal=B:NAME@SECONDS and `exec mpirun`, which passes USR1 and USR2 on",
       .check = check_signal_misses_ranks},
  };
}

}  // namespace dts::lint
