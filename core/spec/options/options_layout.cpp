// SPDX-License-Identifier: Apache-2.0
// Options: number of ranks, their resources, and the launcher.
#include "core/spec/values/values.hpp"

namespace dts::spec {

std::vector<Option> layout_options() {
  return {
      {.names = "-N,--nodes",
       .value = node_count(),
       .help = "nodes [1]",
       .manual = R"(Number of nodes.
The default is 1.
Without Slurm, this machine is the only node, unless
.B \-\-hosts
names others.
)"},
      {.names = "--gpus-per-node",
       .value = gpus_per_node(),
       .help = "GPUs on each node, e.g. a100:4; a rank for each",
       .manual = R"(GPUs on each node, with or without a type:
.B 8
or
.BR a100:4 .
One rank is started for each, unless
.B \-\-ntasks\-per\-node
says otherwise.
The default is none.
.IP
A type is compared with the products of the node's GPUs as NVML names them:
.B a100
or
.B nvidia_a100\-sxm4\-40gb
matches any GPU whose name contains it.
Where only some of a node's GPUs are of the type, ranks get only these; a GPU of another type that the scheduler assigned to the job
fails the pre-flight check.
Where none is, the type is assumed to be a name that the site has chosen, with a warning.
)",
       .variable = "SBATCH_GPUS_PER_NODE"},
      {.names = "--ntasks-per-node",
       .value = count(&JobSpec::ntasks_per_node, 1),
       .help = "ranks on each node [one per GPU, otherwise 1]",
       .manual = R"(Ranks on each node.
The default is one per GPU.
Without GPUs it is 1 or, if
.B \-\-cpus\-per\-task
is given and the nodes are known, as many as their CPUs allow.
)"},
      {.names = "--per-node",
       .value = flag(&JobSpec::per_node, Written::if_set),
       .help = "start the program once on each node: it starts the node's processes itself",
       .manual =
           R"(Start the program once on each node.
The program starts the processes of its node itself, one per GPU, and numbers its own ranks.
It gets the number of nodes, its node's rank and the rendezvous as torchrun does.
Use it, for example, for a script that calls torchrun; a launcher that is visible in the command is recognised without it.
)",
       .is_rare = true},
      {.names = "--per-rank",
       .value = flag(&JobSpec::per_rank, Written::if_set),
       .help = "start the program once for each rank, even if it looks like a launcher",
       .manual =
           R"(Start the program once for each rank, even if it is known to start processes itself.
)",
       .is_rare = true},
      {.names = "-c,--cpus-per-task",
       .value = count(&JobSpec::cpus_per_task, 1),
       .help = "CPUs for each rank [its share of the node]",
       .manual =
           R"(CPUs for each rank, as Slurm counts them: on most sites, each hardware thread of a core is one.
The default is its share of those that a job can have of a node: without those reserved for the system, within the
partition's MaxCPUsPerNode, and only the threads of each core that
.B \-\-threads\-per\-core
or
.B \-\-hint
requests; no more than the node has and the partition gives memory for, if memory comes with each CPU (DefMemPerCPU,
.BR \-\-mem\-per\-cpu ).
If the site gives a number of CPUs with each GPU (DefCpuPerGPU), a job with GPUs gets these, unless it gets whole nodes
.RB ( \-\-exclusive ,
OverSubscribe=EXCLUSIVE).
Without Slurm, this many of the nearest cores are used, a number greater than the host's is refused, and
.B \-\-cores\-per\-rank
takes precedence.
)"},
      {.names = "-J,--job-name",
       .value = text(&JobSpec::job_name, "NAME"),
       .help = "name of the job and its run [the program's]",
       .manual =
           R"(Name of the job and, with a time stamp and a suffix, of its run directory, whose name omits characters that are
not suitable for a folder's name.
The default is derived from the program's name; a program named bash or interactive gives
.I bash\-job
or
.IR interactive\-job ,
because Lightning ignores Slurm in jobs of these names.
)",
       .variable = "SBATCH_JOB_NAME"},
      {.names = "--heterogeneous",
       .value = flag(&JobSpec::heterogeneous, Written::if_set),
       .help = "each role asks for nodes of its own kind",
       .manual =
           R"(Submit the roles of a job file as the components of a heterogeneous job, so that they can ask for different
partitions, GPUs, memory and the like; see STEPS AND ROLES in
.BR dtsubmit\-submit (1).
.B dtsubmit run
has one machine for all of them, whose GPUs it divides.
)",
       .is_rare = true},
      {.names = "--interface",
       .value = text(&JobSpec::interface, "NAME"),
       .help = "network interface that ranks meet on [the fastest that all nodes reach]",
       .manual =
           R"(Network interface that ranks meet on, for example ib0: MASTER_ADDR is its address on the node of rank 0,
and NCCL and Gloo use it where all nodes have it.
The default is the fastest adapter of that node that every other node reaches, by the kernel's speed of the link;
among equals, the one whose address Slurm uses for the node.
)",
       .is_rare = true},
      {.names = "--launcher",
       .value = launcher(&JobSpec::launcher),
       .help = "launcher: mpirun, srun, mpiexec or ssh [auto]",
       .manual = R"(What starts the ranks:
.BR mpirun ,
.BR srun ,
.BR mpiexec ,
.B ssh
or
.BR auto ,
the default: ssh with
.BR \-\-hosts ,
otherwise that of the MPI that the program is linked with, as its dynamic loader reports on the agent's node: mpirun for
Open MPI, mpiexec for MPICH, Intel MPI and MVAPICH, otherwise srun.
Where no MPI is found (a script, mpi4py), it is mpirun if the agent's node has it, otherwise srun.
The agent's log names the launcher, and why it was chosen.
Placement, environment, logs and exit codes are the same with each.
srun is given the complete layout; see
.BR \-\-mpi .
mpirun must be Open MPI's, release 4 or later, and mpiexec Hydra's, under this name or as mpiexec.hydra or mpiexec.mpich.
A launcher of another MPI than the program's is refused, because it would start each rank in a separate world.
.IP
A program that is
.B torchrun
(or python3 \-m torch.distributed.run) gets one task on each node and starts that node's processes itself,
one per GPU unless its own \-\-nproc\-per\-node says otherwise.
It gets the number of nodes, node rank and rendezvous through its PET_* variables, so the options for them can be omitted;
for others see PROGRAMS THAT START PROCESSES THEMSELVES in
.BR dtsubmit\-submit (1).
torchrun turns every exit code of your program into 1: a run still continues after a stop that dtsubmit requested,
but your program cannot ask for another attempt with 85.
)"},
      {.names = "--mpi",
       .value = text(&JobSpec::mpi, "TYPE"),
       .help = "with srun: its --mpi, one of `srun --mpi=list` [as the program is linked]",
       .manual = R"(With srun as the launcher: the type of MPI that it starts ranks for, one of
.BR "srun \-\-mpi=list" .
The default is the first of pmix, pmi2 and none that srun offers and the program's MPI knows: an MPICH knows pmix if it was
built for it, Open MPI 5 and later do not know pmi2.
Other launchers do not use it.
)",
       .is_rare = true},
  };
}

}  // namespace dts::spec
