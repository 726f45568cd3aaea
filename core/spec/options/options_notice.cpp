// SPDX-License-Identifier: Apache-2.0
// Options of sbatch: when a job runs, its priority, and who is notified.
#include "core/spec/values/slurm_values.hpp"
#include "core/spec/values/values.hpp"

namespace dts::spec {
namespace {

std::vector<std::string> mail_types() {
  return {"NONE",
          "BEGIN",
          "END",
          "FAIL",
          "REQUEUE",
          "ALL",
          "INVALID_DEPEND",
          "STAGE_OUT",
          "TIME_LIMIT",
          "TIME_LIMIT_90",
          "TIME_LIMIT_80",
          "TIME_LIMIT_50",
          "ARRAY_TASKS"};
}

// Repeated options add up, as for sbatch.
Value mail_list() {
  constexpr const char* k_name = "mail-type";
  Value value = slurm_words(k_name, "LIST", mail_types());
  value.repeats = true;
  value.parse = [parse_one = value.parse](const std::string& typed, JobSpec& spec) -> Result<void> {
    JobSpec alone;
    DTS_TRY(parse_one(typed, alone));
    std::string& all = spec.slurm[k_name];
    const std::string& one = alone.slurm[k_name];
    if (all.empty() || all == "NONE")
      all = one;
    else if (one != "NONE")
      all += "," + one;
    return {};
  };
  return value;
}

}  // namespace

std::vector<Option> slurm_notice_options() {
  return {
      {.names = "--time-min",
       .value = slurm_time("time-min"),
       .help = "the time limit may be lowered to this, to start earlier"},
      {.names = "-b,--begin",
       .value = slurm_moment("begin"),
       .help = "earliest start, e.g. 16:00, tomorrow or now+1hour",
       .is_for_first_job = true},
      {.names = "--deadline",
       .value = slurm_moment("deadline"),
       .help = "remove the job if it cannot end before this time",
       .is_for_first_job = true},
      {.names = "-d,--dependency",
       .value = slurm_dependency("dependency"),
       .help = "wait for other jobs, e.g. afterok:1234 or singleton",
       .is_for_first_job = true},
      {.names = "--kill-on-invalid-dep",
       .value = slurm_word("kill-on-invalid-dep", "yes|no", {"yes", "no"}),
       .help = "remove the job if its dependency can never be met"},
      {.names = "-H,--hold",
       .value = slurm_flag("hold"),
       .help = "wait until `scontrol release` lets the job start",
       .is_for_first_job = true},
      {.names = "--export",
       .value = slurm_exports("export"),
       .help = "variables of your shell that the job gets [ALL]",
       .manual = R"(Which variables of the submitting shell the job gets:
.BR ALL ,
the default,
.B NONE
or a list of
.I NAME
and
.IR NAME=VALUE ,
which may contain
.BR ALL .
With
.B NONE
or a list without
.BR ALL ,
the job also gets the environment of a login on its node, as
.BR sbatch (1)
describes;
.B NIL
is
.B NONE
without a login.
.BR HOME ", " USER ", " LOGNAME ", " SLURM_CONF ", " DTSUBMIT_*
and
.B XDG_*
are always passed on.
Programs get the variables of the job and those that
.B \-\-setup
exports; under sbatch, srun would withhold the latter from them.
A value that is written here is kept in the run directory, which only its owner can read, and on the command line it is visible to
other users of the machine, so give the name alone for a secret.
Scripts made by
.BR dtsubmit\-render (1)
do not have this option.
)",
       .variable = "SBATCH_EXPORT"},
      {.names = "--nice",
       .value = or_flag(slurm_number("nice", -2'147'483'645, 2'147'483'645), "nice"),
       .help = "lower the priority by this much [100, without a number]"},
      {.names = "--priority",
       .value = slurm_number("priority", 0, 4'294'967'293),
       .help = "priority, for operators"},
      {.names = "--mail-type",
       .value = mail_list(),
       .help = "when Slurm sends mail, e.g. BEGIN,END,FAIL or ALL"},
      {.names = "--mail-user",
       .value = for_slurm("mail-user", "ADDRESS"),
       .help = "recipient of Slurm's mail [the submitting user]"},
      {.names = "--wckey",
       .value = for_slurm("wckey", "NAME"),
       .help = "workload characterization key",
       .variable = "SBATCH_WCKEY"},
      {.names = "--mcs-label",
       .value = for_slurm("mcs-label", "NAME"),
       .help = "label of multi-category security"},
      {.names = "--extra",
       .value = for_slurm("extra", "TEXT"),
       .help = "text for the site's own scheduling [Slurm 23.02]"},
      {.names = "--profile",
       .value = for_slurm("profile", "LIST"),
       .help = "what Slurm records of the job: energy, task, lustre, network, all, none",
       .variable = "SBATCH_PROFILE"},
      {.names = "--acctg-freq",
       .value = for_slurm("acctg-freq", "TEXT"),
       .help = "how often Slurm samples that and the accounting",
       .variable = "SBATCH_ACCTG_FREQ"},
      {.names = "--propagate",
       .value = or_flag(for_slurm("propagate", "LIST"), "propagate"),
       .help = "resource limits that the job inherits, e.g. STACK [all, without a list]"},
      {.names = "--oom-kill-step",
       .value = slurm_number("oom-kill-step", 0, 1),
       .help = "1: a step ends when one of its tasks runs out of memory [Slurm 24.05]"},
      {.names = "--stepmgr",
       .value = slurm_flag("stepmgr"),
       .help = "a step manager on the job's first node [Slurm 24.05]"},
      {.names = "--signal",
       .value = signal_and_margin(),
       .help = "the same as --stop-signal SIG --signal-margin SEC",
       .manual = R"(The same as
.BI \-\-stop\-signal " SIG"
.BI \-\-signal\-margin " SEC"\fR.
A leading
.B B:
or
.B R:
is ignored: every rank gets the signal, under every launcher.
)",
       .variable = "SBATCH_SIGNAL"},
      {.names = "-o,--output",
       .value = log_link("output"),
       .help = "a link to the job's log, e.g. logs/%x-%j.out; its folder is made",
       .manual =
           R"(A link to the job's log in the run directory, made when the job is submitted, as is its folder.
Each further job of the run gets its own link when it begins; where the name is the same, the link leads to the latest job's log.
Nothing but a link to a log of dtsubmit is replaced.
In the name
.B %x
is the job's name,
.BR %j ", " %A " and " %J
are its id,
.B %u
is the user,
.BR %n " and " %t
are 0 as in every batch script, and
.B %%
a percent sign; a number gives a width,
.BR %5j .
The ranks' own output is in the run directory; see
.BR dtsubmit\-logs (1).
)"},
      {.names = "-e,--error",
       .value = log_link("error"),
       .help = "another link to the log, which has both streams"},
      {.names = "--open-mode",
       .value = append_only(),
       .help = "append: the log is never truncated",
       .variable = "SBATCH_OPEN_MODE"},
      {.names = "--slurm",
       .value = any_for_slurm(),
       .help = "an option of this site's sbatch that is not listed here",
       .manual = R"(An option of this site's
.BR sbatch (1)
that is not listed here, by its long name and without dashes, for example
.B \-\-slurm my\-spank\-option=on
or
.BR "\-\-slurm my\-flag" .
May be given more than once.
The job is then submitted by sbatch, which refuses what it does not know.
)",
       .key = "slurm"},
  };
}

}  // namespace dts::spec
