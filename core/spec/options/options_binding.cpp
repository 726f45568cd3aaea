// SPDX-License-Identifier: Apache-2.0
// Options: which cores and GPUs ranks are bound to, and machines without a scheduler.
#include "core/spec/values/values.hpp"

namespace dts::spec {

std::vector<Option> binding_options() {
  return {
      {.names = "--bind",
       .value = bind(&JobSpec::bind),
       .help = "cores: compact, spread, none, map:LIST;.. [auto]",
       .manual = R"(Which cores each rank gets.
.B auto
(the default): the same number for each rank, with those near the GPUs divided fairly and every core used;
.BR compact :
runs of neighboring cores;
.BR spread :
ranks are dealt to the NUMA nodes in turn, skipping full ones;
.BR none :
every rank may use all cores;
.BR map:\fILIST\fB;\fILIST\fR ...:
these hardware threads, by local rank, as in
.BR map:0-3,8;4-7 .
The agent's log reports the result.
If Slurm gives a job part of a node without confining it to that part
.RI ( TaskPlugin=task/none ),
ranks keep to the processors that the job was given.
)"},
      {.names = "--smt",
       .value = count_if_any(&JobSpec::smt),
       .help = "hardware threads of each core that ranks get [all]",
       .manual = R"(Hardware threads of each core that ranks get.
The default is what
.B \-\-threads\-per\-core
or
.B \-\-hint
requests of Slurm, otherwise all.
)"},
      {.names = "--cores-per-rank",
       .value = count_if_any(&JobSpec::cores_per_rank),
       .help = "most cores for each rank [as many as there are]",
       .manual = R"(Give each rank at most this many cores, the nearest ones.
The default is as many as there are.
)"},
      {.names = "--bind-threads",
       .value = choice(&JobSpec::bind_threads, "NAME", {"none", "auto", "gnu", "intel"}),
       .help = "bind each thread of an OpenMP runtime to a core: none, auto, gnu, intel [none]",
       .manual = R"(Bind each thread of an OpenMP runtime to its own core.
.B auto
detects on the node which runtime the program is linked with, or uses settings that every runtime understands if the
program loads one later. It leaves all cores of the rank to the main thread, so that the threads it starts are not
crowded on one core.
.B gnu
(libgomp) and
.B intel
(libiomp5, libomp) bind the main thread to one core too; see
.B GOMP_CPU_AFFINITY
in
.BR dtsubmit-environment (7)
for programs that this slows down.
.BR none ,
the default, lets the threads of a rank move freely among its cores.
)",
       .is_rare = true},
      {.names = "--gpu-view",
       .value = choice(&JobSpec::gpu_view, "NAME", {"auto", "rank", "node"}),
       .help = "GPUs that a rank's program sees: rank (its own), node, auto [auto]",
       .manual = R"(GPUs that a rank's program sees.
.BR rank :
its own, numbered from 0.
.BR node :
those of all ranks of its node, in the order of their local ranks, as under torchrun; with one GPU for each rank, its
own is the one whose number is
.BR LOCAL_RANK .
.B auto
is
.B node
for Python scripts that take their GPU by the local rank, and after an attempt that failed for a GPU that its rank did not see;
otherwise
.BR rank .
See CUDA_VISIBLE_DEVICES in
.BR dtsubmit\-environment (7).
)",
       .is_rare = true},
      {.names = "--strict-binding",
       .value = flag(&JobSpec::strict_binding, Written::if_set),
       .help = "stop if ranks are not bound as planned [warn]",
       .manual =
           R"(Refuse to start if a rank's cores, memory policy or visible GPUs are not as planned, and stop the run if its
threads are found elsewhere later, both with the cause
.B wrong_binding
and exit code 3.
Without this option, either case is a warning in
.I agent.log
and in
.BR dtsubmit-status (1).
See BINDING in
.BR dtsubmit-run (5).
)"},
  };
}

std::vector<Option> host_options() {
  return {
      {.names = "--hosts",
       .value = text(&JobSpec::hosts, "LIST"),
       .help = "machines to run on, through ssh: n[1-4], n1:2,n2:4 [this one]",
       .manual =
           R"(Machines to run on: a host list such as n[1\-4],gpu01, each item of which may end in
.BI : N\fR,
the number of ranks on each of its hosts.
Hosts without it get as many ranks as
.B \-\-ntasks\-per\-node
or the number of GPUs requires.
Ranks are numbered in the order of the list.
Two names for the same machine are refused.
)"},
      {.names = "--ssh-command",
       .value = text(&JobSpec::ssh_command, "WORDS"),
       .help = "command that reaches a host [ssh]",
       .manual = R"(Command that reaches a host, split at blanks:
.BR "ssh \-F file \-p 2222" .
Its options take precedence over those that dtsubmit adds (BatchMode, ConnectTimeout=10 and others).
The default is the value of
.BR DTSUBMIT_SSH ,
otherwise
.BR ssh .
)",
       .variable = "DTSUBMIT_SSH"},
  };
}

}  // namespace dts::spec
