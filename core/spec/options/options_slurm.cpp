// SPDX-License-Identifier: Apache-2.0
// Options of sbatch with the same names. An option only for Slurm is a row with for_slurm().
#include "core/spec/values/slurm_values.hpp"
#include "core/spec/values/values.hpp"

namespace dts::spec {

std::vector<Option> slurm_options() {
  return {
      {.names = "-p,--partition",
       .value = text(&JobSpec::partition, "NAME"),
       .help = "partition [the site's default]",
       .manual = R"(Partition.
The default is the site's.
)",
       .variable = "SBATCH_PARTITION",
       .is_of_nodes = true},
      {.names = "-x,--exclude",
       .value = host_list(&JobSpec::exclude),
       .help = "nodes not to run on, e.g. n3 or n[1-2]",
       .manual = R"(Nodes not to run on, for example
.B n3
or
.BR n[1\-2],m7 .
Nodes in quarantine (see
.BR dtsubmit\-nodes (1))
are excluded too, as long as enough others remain; they are printed with the reason.
)",
       .is_of_nodes = true},
      {.names = "--spares",
       .value = count_if_any(&JobSpec::spares),
       .help = "spare nodes to replace failed ones [0]",
       .manual = R"(Request this many spare nodes in addition.
The best nodes are used; when one fails, the next attempt runs in the same job on the others, without waiting in the
queue.
See
.BR dtsubmit\-recovery (7).
)"},
      {.names = "-t,--time",
       .value = time_limit(&JobSpec::time),
       .help = "time limit, e.g. 90 (minutes), 1:30:00, 2-12, 1.5h",
       .manual =
           R"(Time limit: minutes, M:S, H:M:S, D\-H, D\-H:M or D\-H:M:S, e.g. 90, 1:30:00, 2\-12.
The default is the partition's.
)",
       .variable = "SBATCH_TIMELIMIT"},
      {.names = "--mem",
       .value = memory(&JobSpec::memory_mib),
       .help = "memory on each node, e.g. 16G; 0 is all",
       .manual = R"(Memory on each node, e.g. 16G or 4000M; 0 means all of it.
The default is the site's: for each GPU or CPU or for the node (DefMemPerGPU, DefMemPerCPU, DefMemPerNode), otherwise all of it.
A request or a default above what the partition gives a job (MaxMemPerNode, MaxMemPerCPU), or the nodes have, is refused.
)",
       .key = "memory_mib",
       .variable = "SBATCH_MEM_PER_NODE",
       .is_of_nodes = true},
      {.names = "--template",
       .value = text(&JobSpec::script_template, "NAME|FILE"),
       .help = "template of the batch script [sbatch]",
       .manual = R"(Template of the batch script, by name or file; see TEMPLATES in
.BR dtsubmit\-render (1).
)",
       .is_rare = true},
      {.names = "-A,--account",
       .value = for_slurm("account", "NAME"),
       .help = "account to charge",
       .variable = "SBATCH_ACCOUNT",
       .is_of_nodes = true},
      {.names = "-q,--qos",
       .value = for_slurm("qos", "NAME"),
       .help = "quality of service",
       .variable = "SBATCH_QOS",
       .is_of_nodes = true},
      {.names = "--comment",
       .value = for_slurm("comment", "TEXT"),
       .help = "comment, shown by scontrol and squeue"},
      {.names = "--requeue",
       .value = flag(&JobSpec::requeue, Written::always),
       .help = "requeue after a preemption or time limit [yes]",
       .manual = R"(Requeue the job after a preemption or a time limit.
This is the default.
)"},
      {.names = "--no-requeue",
       .value = no_flag(&JobSpec::requeue),
       .help = "do not requeue the job; overrides --requeue",
       .manual = R"(Do not requeue the job.
Takes precedence over
.BR \-\-requeue .
)",
       .variable = "SBATCH_NO_REQUEUE"},
      {.names = "--expedite",
       .value = slurm_flag("requeue", "expedite"),
       .help = "requeue with the highest priority after a node failure (Slurm 25.11 and later)",
       .manual =
           R"(If a node fails, the job is requeued with the highest priority, and at once instead of after the nodes have been
cleaned up; sbatch calls it
.BR \-\-requeue=expedite .
Slurm 25.11 and later has this, if the site sets SlurmctldParameters=enable_expedited_requeue.
)",
       .is_rare = true},
      {.names = "--signal-margin",
       .value = length(&JobSpec::signal_margin, 0),
       .help = "save this long before the time limit [120s]",
       .manual =
           R"(Stop and save this long before the time limit, 0 to 65535 seconds; see LENGTHS OF TIME in
.BR dtsubmit (1).
The default is 120 seconds, or less if the time limit is short.
A job that its reservation ends earlier saves so long before that.
A program whose saves are known to take longer is stopped earlier, even with 0; see
.BR dtsubmit\-recovery (7).
)"},
  };
}

}  // namespace dts::spec
