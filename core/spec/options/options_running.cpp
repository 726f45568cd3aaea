// SPDX-License-Identifier: Apache-2.0
// Options: starting, watching and stopping a run.
#include "core/base/text/text.hpp"
#include "core/spec/values/values.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

namespace dts::spec {
namespace {

// The word behind -c of a shell in the command, and whether words follow it; nullopt: no shell.
struct ShellText {
  std::string text;
  bool has_name = false;  // of the script, $0, which arguments follow
};

std::optional<ShellText> shell_text_in(const std::vector<std::string>& command) {
  const auto is_shell = [](const std::string& word) {
    constexpr std::string_view k_shells[] = {"bash", "sh", "dash", "zsh", "ksh"};
    return is_one_of(k_shells, std::filesystem::path(word).filename().string());
  };
  const auto shell = std::find_if(command.begin(), command.end(), is_shell);
  if (shell == command.end()) return std::nullopt;
  for (auto word = shell + 1; word < command.end() && word->starts_with('-'); ++word) {
    const bool is_text = !word->starts_with("--") && word->ends_with('c');
    if (is_text && word + 1 != command.end()) return ShellText{word[1], command.end() - word > 2};
    if (*word == "-o") ++word;
  }
  return std::nullopt;
}

// Reports a --resume or --checkpoints without a program that could need it.
bool has_program(const JobSpec& spec, const std::string& option, Diagnostics& problems) {
  if (!spec.command.empty() || !spec.steps.empty() || !spec.roles.empty()) return true;
  problems.push_back({option,
                      "the bundled trainer continues from its newest checkpoint by itself",
                      "omit " + option + ", or name a program behind --"});
  return false;
}

void check_braces(const JobSpec& spec, const std::string& option, Diagnostics& problems) {
  const std::string& words = spec.resume;
  for (std::size_t at = words.find('{'); at != std::string::npos; at = words.find('{', at + 1)) {
    const std::string one = words.substr(at, words.find('}', at) - at + 1);
    const bool is_parameter =
        std::any_of(spec.sweep.begin(), spec.sweep.end(), [](const std::string& parameter) {
          return parameter.starts_with("dir=");
        });
    if (one == "{dir}" && is_parameter)
      problems.push_back({option,
                          "{dir} is the checkpoint's folder, and a parameter of the sweep",
                          "give the parameter another name"});
    if (one != "{}" && one != "{dir}" && spec.sweep.empty())
      problems.push_back(
          {option, one + " has no meaning here", "{} is the checkpoint, {dir} its folder"});
  }
}

// Reports a --resume that would not reach the program.
void check_resume(const JobSpec& spec, const std::string& option, Diagnostics& problems) {
  check_text(spec.resume, option, problems);
  if (spec.resume.empty() || !has_program(spec, option, problems)) return;
  if (spec.resume.find_first_of("'\"") != std::string::npos)
    problems.push_back({option,
                        "quotes would reach the program: the words are separated by blanks",
                        "omit the quotes; the path for {} stays one argument, whatever is in it"});
  check_braces(spec, option, problems);
  const auto text = shell_text_in(spec.command);
  const bool is_passed_on =
      text && text->has_name &&
      (text->text.find("$@") != std::string::npos || text->text.find("$*") != std::string::npos);
  if (text && !is_passed_on)
    problems.push_back(
        {option,
         "the arguments would not reach the program: they follow the text of a shell",
         "use $DTSUBMIT_RESUME_FROM in the text, or end the command in \"$@\" and a "
         "name: bash -c 'exec python train.py \"$@\"' train"});
}

void check_checkpoints(const JobSpec& spec, const std::string& option, Diagnostics& problems) {
  check_text(spec.checkpoints, option, problems);
  if (spec.checkpoints.empty() || !has_program(spec, option, problems)) return;
  if (spec.checkpoints.find('$') != std::string::npos)
    problems.push_back({option,
                        "variables are not expanded in it",
                        "let your shell expand them: double quotes instead of single ones"});
  if (spec.checkpoints.find("**") != std::string::npos)
    problems.push_back({option,
                        "** matches no more than *: glob(7)",
                        "write a * for each level of folders: 'out/*/*.pt'"});
}

Value checked_text(std::string JobSpec::*member,
                   const char* type,
                   void (*check)(const JobSpec&, const std::string&, Diagnostics&)) {
  Value value = text(member, type);
  value.check = check;
  return value;
}

}  // namespace

std::vector<Option> running_options() {
  return {
      {.names = "--log-timestamps",
       .value = flag(&JobSpec::log_timestamps, Written::always),
       .help = "begin each line of a rank's log with the time, UTC",
       .manual =
           R"(Begin each line of a rank's log with the time at which the line began, UTC with milliseconds (RFC 3339).
The rank's output then passes through
.BR dtsubmit ;
without this option, the program writes directly to the file, and its output is not changed.
)",
       .is_rare = true},
      {.names = "--start-timeout",
       .value = length(&JobSpec::start_timeout, 1),
       .help = "end the attempt if a rank has not started after this long [120s]",
       .manual =
           R"(End the attempt if a rank has not started after this long, 1 to 65535 seconds; see LENGTHS OF TIME in
.BR dtsubmit (1).
The default is 120 seconds; a slow file system or the pull of a container may need more.
Regardless of the limit, a node that cannot be reached is given up after about 4 seconds, and the job is requeued
without it; a rank that is missing while others on its node have started is given up after about 3.
If a node is up but silent, the agent's log reports that, and whether its slurmd answers.
After a launch that failed because nodes started no process in time, as while they run the site's Prolog, dtsubmit waits
for them once more, for up to this long.
)",
       .is_rare = true},
      {.names = "--preflight",
       .value = length_or_off(&JobSpec::preflight, "WHEN"),
       .help = "check each node before programs start: on, off, or a time limit for it [10s]",
       .manual = R"(Check each node before programs start there, while its ranks meet:
.BR on ,
.BR off ,
or how many seconds the checks may take.
The default is 10; see
.BR dtsubmit\-recovery (7).
)",
       .is_rare = true},
      {.names = "--snapshot",
       .value = flag(&JobSpec::snapshot, Written::if_set),
       .help = "run all attempts in a copy of the files that git tracks, made now",
       .manual =
           R"(Run all attempts in a copy of the files that git tracks, as they are at submission: later edits have no effect.
The copy,
.I snapshot/
in the run directory, includes submodules and changes that are not committed, but no untracked files: a program or
set\-up file that git does not track is refused.
Relative paths, also those of output, are relative to the folder in the copy that matches the one of the submission.
)",
       .is_rare = true},
      {.names = "--resume",
       .value = checked_text(&JobSpec::resume, "WORDS", check_resume),
       .help = "more arguments once it has saved: '--load {}'",
       .manual =
           R"(Arguments for a program that has to be told to continue.
An attempt that finds a checkpoint adds these words, which are separated by blanks, to the program's arguments, with the
checkpoint's path for
.B {}
and its folder for
.BR {dir} ;
other attempts run the program as it is.
Examples:
.BR "\-\-resume='\-\-resume_from_checkpoint {}'" ", " \-\-resume=\-\-init_from=resume .
Only checkpoints that were written since the run began count.
Programs also find the path in
.BR DTSUBMIT_RESUME_FROM .
)"},
      {.names = "--checkpoints",
       .value = checked_text(&JobSpec::checkpoints, "PATTERN", check_checkpoints),
       .help = "where the program saves, for --resume, e.g. 'out/step-*' [run directory]",
       .manual =
           R"(Where the program saves, for
.BR \-\-resume :
a pattern as in
.BR glob (7),
with {pt,ckpt} for alternatives, relative to the working folder, such as
.BR 'out/checkpoint\-*' .
The newest match is used; of a folder, the newest file in it counts.
Empty files, and files of
.I torch.save()
that are cut short, are not used; where a checkpoint is a folder, name the file that the program writes last, and use
.BR {dir} .
What is written there also counts as saved after a stop, and as progress; see BUDGETS in
.BR dtsubmit\-recovery (7).
The default is the folder for checkpoints in the run directory.
)",
       .is_rare = true},
      {.names = "--on",
       .value = text(&JobSpec::on, "CAUSE=ACTION[:N],..."),
       .help = "what to do about a cause: dtsubmit-recovery(7)",
       .manual = R"(What to do about each cause that ends an attempt, and how often; see
.BR dtsubmit\-recovery (7).
)"},
      {.names = "--hang-timeout",
       .value = patience(&JobSpec::hang_timeout),
       .help = "no progress for this long is a hang [learned]",
       .manual =
           R"(No progress for this long is a hang (a plain number is seconds; see LENGTHS OF TIME in
.BR dtsubmit (1));
.B UNLIMITED
means never.
The default is learned from the program's own beats; see
.BR dtsubmit\-recovery (7).
)"},
      {.names = "--time-total",
       .value = time_limit(&JobSpec::time_total),
       .help = "time limit of all attempts together",
       .manual = R"(Do not continue once all attempts together have taken this long.
A plain number is minutes, as for
.BR \-\-time .
)"},
      {.names = "--stop-signal",
       .value = stop_signal(&JobSpec::stop_signal),
       .help = "signal to save and exit with code 85 [TERM]",
       .manual = R"(Signal sent once to each program to make it save and exit with code 85:
.B TERM
(the default),
.BR USR1 ,
.BR USR2 ,
or any other that a program can catch.
)"},
      {.names = "--framework",
       .value = frameworks(&JobSpec::frameworks),
       .help = "whose variables ranks get: none, torch,... [all]",
       .manual = R"(Frameworks whose variables each rank gets:
.BR all ,
the default,
.B none
or a list of
.BR torch ,
.BR tensorflow ,
.BR jax ,
.B horovod
and
.BR sagemaker .
DeepSpeed, accelerate and Lightning use those of torch.
See
.BR dtsubmit-environment (7).
)",
       .key = "frameworks"},
      {.names = "--runs",
       .value = local_text(&JobSpec::runs, "DIR"),
       .help = "folder of run directories [runs]",
       .manual = R"(Folder of the run directories.
The default is
.IR runs .
)"},
  };
}

}  // namespace dts::spec
