// SPDX-License-Identifier: Apache-2.0
// Options: starting, watching and stopping a run.
#include "core/spec/values/values.hpp"

#include <filesystem>

namespace dts::spec {
namespace {

// bash -c TEXT: what follows is $0 of the text.
bool ends_in_shell_text(const std::vector<std::string>& command) {
  if (command.size() < 3) return false;
  const std::string shell = std::filesystem::path(command[command.size() - 3]).filename();
  return (shell == "bash" || shell == "sh") && command[command.size() - 2] == "-c";
}

// Reports a --resume that would not reach the program.
void check_resume(const JobSpec& spec, const std::string& option, Diagnostics& problems) {
  check_text(spec.resume, option, problems);
  if (spec.resume.empty() || !spec.steps.empty() || !spec.roles.empty()) return;
  if (spec.command.empty())
    problems.push_back({"--resume",
                        "the bundled trainer continues from its newest checkpoint by itself",
                        "omit --resume, or name a program behind --"});
  if (ends_in_shell_text(spec.command))
    problems.push_back(
        {"--resume",
         "the arguments would not reach the program: they follow the text of a shell",
         "use $DTSUBMIT_RESUME_FROM in the text, or end the command in \"$@\" and a "
         "name: bash -c 'exec python train.py \"$@\"' train"});
}

Value resume_words() {
  Value value = text(&JobSpec::resume, "WORDS");
  value.check = check_resume;
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
       .value = resume_words(),
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
       .value = text(&JobSpec::checkpoints, "PATTERN"),
       .help = "where the program saves, for --resume, e.g. 'out/step-*' [run directory]",
       .manual =
           R"(Where the program saves, for
.BR \-\-resume :
a pattern as in
.BR glob (7),
relative to the working folder, such as
.BR 'out/checkpoint\-*' .
The newest match is used; of a folder, the newest file in it counts.
Files in the format of
.I torch.save()
that are cut short are not used; where a checkpoint is a folder, name the file that the program writes last, and use
.BR {dir} .
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
