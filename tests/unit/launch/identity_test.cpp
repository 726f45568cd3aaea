// SPDX-License-Identifier: Apache-2.0
// A process's identity in the environments that launchers really create and that leak between them.
// Environments that must be refused are in identity_refused_test.cpp.
#include "core/launch/launcher/identity.hpp"

#include "core/launch/wire/node_name.hpp"
#include "tests/unit/launch/launcher_environments.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace {

using namespace dts;
using namespace dts::launch;

struct Known {
  const char* where;
  Environment variables;
  const char* identity;  // rank/world size local rank/local size @node source; -: not known
};

std::string text_of(const Identity& identity) {
  const auto text = [](std::optional<unsigned> n) { return n ? std::to_string(*n) : "-"; };
  return fmt::format("{}/{} {}/{} @{} {}",
                     identity.rank,
                     identity.world_size,
                     identity.local_rank,
                     text(identity.local_size),
                     text(identity.node_rank),
                     identity.source);
}

constexpr const char* k_alone = "0/1 0/- @- none";

// clang-format off: one row per environment
const std::vector<Known> k_by_themselves{
    {"a login shell", {}, k_alone},
    {"a shell with another program's variables",
     {{"RANK", "3"}, {"WORLD_SIZE", "9"}, {"LOCAL_RANK", "3"}},
     k_alone},
    {"DeepSpeed's launcher: no run id, so anyone's",
     {{"RANK", "1"},
      {"WORLD_SIZE", "2"},
      {"LOCAL_RANK", "1"},
      {"MASTER_ADDR", "n0"},
      {"MASTER_PORT", "29500"},
      {"CROSS_RANK", "0"},
      {"CROSS_SIZE", "1"},
      {"LOCAL_SIZE", "2"}},
     k_alone},
    {"torchrun's run id alone, as after a scrub of RANK",
     {{"TORCHELASTIC_RUN_ID", "7"}, {"GROUP_RANK", "0"}},
     k_alone},
    {"a batch script", k_batch_of_4, k_alone},
    {"a batch script of a large job", sbatch(512, "8(x64)"), k_alone},
    {"a batch script of an array's task",
     with(sbatch(2, "2"), {{"SLURM_ARRAY_JOB_ID", "4711"}, {"SLURM_ARRAY_TASK_ID", "3"}}),
     k_alone},
    {"a batch script of a heterogeneous job",
     with(sbatch(1, "1"), {{"SLURM_HET_SIZE", "2"}, {"SLURM_NTASKS_HET_GROUP_1", "2"}}),
     k_alone},
    {"a batch script of an arbitrary distribution",
     with(without(sbatch(3, ""), "SLURM_TASKS_PER_NODE"),
          {{"SLURM_DISTRIBUTION", "arbitrary"}, {"SLURM_HOSTFILE", "hf"}}),
     k_alone},
    {"a batch script submitted from inside a step of two tasks",
     with(sbatch(1, "1"),
          {{"SLURM_STEP_ID", "0"},
           {"SLURM_STEPID", "0"},
           {"SLURM_STEP_NODELIST", "n0"},
           {"SLURMD_NODENAME", "n0"},
           {"SLURM_STEP_NUM_TASKS", "2"},
           {"SLURM_STEP_TASKS_PER_NODE", "2"}}),
     k_alone},
    {"a batch script submitted from inside a step of two nodes, elsewhere",
     with(sbatch(1, "1"),
          {{"SLURM_STEP_ID", "0"},
           {"SLURM_STEP_NODELIST", "n[0-1]"},
           {"SLURMD_NODENAME", "n5"},
           {"SLURM_STEP_NUM_TASKS", "2"},
           {"SLURM_STEP_TASKS_PER_NODE", "1(x2)"}}),
     k_alone},
    {"a batch script submitted from inside srun --mpi=pmix",
     with(k_batch_of_4, {{"PMIX_RANK", "0"}, {"PMIX_NAMESPACE", "slurm.pmix.4700.0"}}),
     k_alone},
    {"a batch script submitted from inside srun --mpi=pmi2",
     with(k_batch_of_4,
          {{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}, {"PMI_JOBID", "4700.0"}, {"PMI_FD", "9"}}),
     k_alone},
    {"salloc's shell on the login node",
     {{"SLURM_JOB_ID", "7"},
      {"SLURM_NTASKS", "4"},
      {"SLURM_NPROCS", "4"},
      {"SLURM_NNODES", "2"},
      {"SLURM_NTASKS_PER_NODE", "2"},
      {"SLURM_TASKS_PER_NODE", "2(x2)"}},
     k_alone},
    {"salloc's shell on a node (LaunchParameters=use_interactive_step)",
     with(srun(0, 1, 0, 0, "1", "0"), {{"SLURM_STEP_ID", "4294967290"}, {"SLURM_NTASKS", "16"}}),
     k_alone},
    {"ssh into a node of a job (pam_slurm_adopt)", {{"SLURM_JOB_ID", "7"}}, k_alone},
    {"an editor's server on a node: JAX took it for Slurm and failed",
     {{"SLURM_JOB_ID", "7"},
      {"SLURM_NTASKS", "8"},
      {"SLURM_STEP_NODELIST", "n0"},
      {"SLURM_LOCALID", "0"}},
     k_alone},
    {"the same with a step's size",
     {{"SLURM_JOB_ID", "7"}, {"SLURM_STEP_NUM_TASKS", "8"}},
     k_alone},
    {"Lightning's SLURM_NTASKS=8 in a job called bash",
     {{"SLURM_NTASKS", "8"}, {"SLURM_JOB_NAME", "bash"}, {"SLURM_JOB_ID", "7"}},
     k_alone},
};

const std::vector<Known> k_under_mpirun{
    {"mpirun", k_mpirun, "5/8 1/4 @- Open MPI"},
    {"mpirun of one rank", mpirun(0, 1, 0, 1), "0/1 0/1 @- Open MPI"},
    {"the last rank", mpirun(7, 8, 7, 8), "7/8 7/8 @- Open MPI"},
    {"an mpirun without the node's number of ranks",
     without(k_mpirun, "OMPI_COMM_WORLD_LOCAL_SIZE"),
     "5/8 1/- @- Open MPI"},
    {"an mpirun without PMIx (Open MPI 1 to 3)",
     without(without(k_mpirun, "PMIX_RANK"), "PMIX_SERVER_URI2"),
     "5/8 1/4 @- Open MPI"},
    {"Open MPI 5: a name for a name space",
     with(k_mpirun,
          {{"PMIX_NAMESPACE", "prterun-n0-4242@1"},
           {"PMIX_SERVER_URI2", "prterun-n0-4242@0.0;tcp4://10.0.0.1:4444"}}),
     "5/8 1/4 @- Open MPI"},
    {"in a batch script: SLURM_PROCID is the script's",
     with(k_batch_of_4, k_mpirun),
     "5/8 1/4 @- Open MPI"},
    {"in a batch script of several tasks on the head",
     with(sbatch(8, "4(x2)"), mpirun(0, 8, 0, 4)),
     "0/8 0/4 @- Open MPI"},
    {"below an orted: SLURM_* are the daemon's",
     with(k_orted_step, mpirun(9, 12, 1, 4, 1)),
     "9/12 1/4 @- Open MPI"},
    {"below an orted that is the second task",
     with(srun(1, 2, 0, 1, "1(x2)", "1"), mpirun(9, 12, 1, 4, 2)),
     "9/12 1/4 @- Open MPI"},
    {"below the only orted of two nodes",
     with(srun(0, 1, 0, 0, "1", "0"), mpirun(3, 4, 1, 2, 1)),
     "3/4 1/2 @- Open MPI"},
    {"below a prted of Open MPI 5",
     with(with(k_orted_step, mpirun(9, 12, 1, 4)),
          {{"PMIX_SERVER_URI2", "prterun-n0-4242@0.2;tcp4://10.0.0.3:4444"}}),
     "9/12 1/4 @- Open MPI"},
    {"below an orted of an unknown PMIx",
     with(k_orted_step, without(mpirun(9, 12, 1, 4), "PMIX_SERVER_URI2")),
     "9/12 1/4 @- Open MPI"},
    {"one rank, on a node that is not the head",
     with(srun(1, 2, 0, 1, "1(x2)", "1"), mpirun(0, 1, 0, 1, 2)),
     "0/1 0/1 @- Open MPI"},
    {"in the shell of srun --pty",
     with(srun(0, 1, 0, 0, "1", "0"), k_mpirun),
     "5/8 1/4 @- Open MPI"},
    {"in the shell of srun --ntasks=8 --pty",
     with(with(srun(0, 8, 0, 0, "8", "0,1,2,3,4,5,6,7"), {{"SLURM_PTY_PORT", "41267"}}), k_mpirun),
     "5/8 1/4 @- Open MPI"},
    {"in salloc's shell on a node",
     with(with(srun(0, 1, 0, 0, "1", "0"), {{"SLURM_STEP_ID", "4294967290"}}), k_mpirun),
     "5/8 1/4 @- Open MPI"},
    {"in a batch script submitted from inside a step",
     with(with(sbatch(8, "8"),
               {{"SLURM_STEP_ID", "0"},
                {"SLURM_STEP_NUM_TASKS", "2"},
                {"SLURM_STEP_TASKS_PER_NODE", "2"}}),
          k_mpirun),
     "5/8 1/4 @- Open MPI"},
    {"a child of srun's rank whose MPI exported what it is",
     with(with(k_srun_1_of_4, mpirun(1, 4, 1, 2)),
          {{"PMIX_NAMESPACE", "slurm.pmix.4711.0"},
           {"PMIX_SERVER_URI2", "pmix-server.1416;tcp4://127.0.0.1:56883"}}),
     "1/4 1/2 @- Open MPI"},
    {"in a shell that MPICH started", with(hydra(2, 4, 0, 2), k_mpirun), "5/8 1/4 @- Open MPI"},
    {"with leaked ranks that are no numbers",
     with(k_mpirun, {{"PMI_RANK", "x"}, {"SLURM_PROCID", "y"}, {"SLURM_STEP_ID", "0"}}),
     "5/8 1/4 @- Open MPI"},
    {"with a leaked RANK",
     with(k_mpirun, {{"RANK", "0"}, {"WORLD_SIZE", "1"}}),
     "5/8 1/4 @- Open MPI"},
    {"with the variables of a torchrun above it",
     with(torchrun(0, 1, 0, 1, 0), k_mpirun),
     "5/8 1/4 @- Open MPI"},
    {"MPICH's mpiexec", hydra(1, 2, 1, 2), "1/2 1/2 @- PMI"},
    {"MPICH's mpiexec in a batch script", with(k_batch_of_4, hydra(1, 2, 1, 2)), "1/2 1/2 @- PMI"},
    {"MPICH's mpiexec below its proxies' step",
     with(k_orted_step, hydra(6, 8, 2, 4)),
     "6/8 2/4 @- PMI"},
    {"MPICH's mpiexec of one rank below its proxies' step",
     with(k_orted_step, hydra(0, 1, 0, 1)),
     "0/1 0/1 @- PMI"},
    {"MPICH's mpiexec in the shell of srun --mpi=pmix --pty",
     with(with(srun(0, 1, 0, 0, "1", "0"),
               {{"PMIX_RANK", "0"}, {"PMIX_NAMESPACE", "slurm.pmix.4711.0"}}),
          hydra(3, 4, 3, 4)),
     "3/4 3/4 @- PMI"},
    {"MVAPICH2's mpirun_rsh",
     {{"MV2_COMM_WORLD_RANK", "2"},
      {"MV2_COMM_WORLD_SIZE", "4"},
      {"MV2_COMM_WORLD_LOCAL_RANK", "0"},
      {"MV2_COMM_WORLD_LOCAL_SIZE", "2"}},
     "2/4 0/2 @- MVAPICH2"},
};

const std::vector<Known> k_under_srun{
    {"srun", k_srun_3_of_4, "3/4 1/2 @1 Slurm step"},
    {"srun of one task", srun(0, 1, 0, 0, "1", "0"), "0/1 0/1 @0 Slurm step"},
    {"uneven: 2 + 1", srun(2, 3, 0, 1, "2,1", "2"), "2/3 0/1 @1 Slurm step"},
    {"uneven, compressed", srun(16, 20, 0, 2, "8(x2),4", "16,17,18,19"), "16/20 0/4 @2 Slurm step"},
    {"cyclic: the node's tasks are no run",
     srun(2, 4, 1, 0, "2(x2)", "0,2"),
     "2/4 1/2 @0 Slurm step"},
    {"arbitrary: task 0 on the second node",
     with(srun(0, 3, 0, 1, "2,1", "0"),
          {{"SLURM_DISTRIBUTION", "arbitrary"}, {"SLURM_HOSTFILE", "hf"}}),
     "0/3 0/1 @1 Slurm step"},
    {"arbitrary: the last task on the first node",
     with(srun(2, 3, 1, 0, "2,1", "1,2"), {{"SLURM_DISTRIBUTION", "arbitrary"}}),
     "2/3 1/2 @0 Slurm step"},
    {"a topology's order: the first tasks on node 1",
     srun(1, 4, 1, 1, "2(x2)", "0,1"),
     "1/4 1/2 @1 Slurm step"},
    {"over two components of a heterogeneous job",
     with(srun(1, 3, 0, 1, "1,2", "1,2"),
          {{"SLURM_HET_SIZE", "2"}, {"SLURM_NTASKS_HET_GROUP_1", "2"}}),
     "1/3 0/2 @1 Slurm step"},
    {"a step smaller than its job: SLURM_NTASKS_PER_NODE is the job's",
     with(srun(0, 1, 0, 0, "1", "0"), {{"SLURM_NTASKS_PER_NODE", "2"}}),
     "0/1 0/1 @0 Slurm step"},
    {"SLURM_NTASKS_PER_NODE against SLURM_NTASKS: stopped Lightning",
     with(k_srun_3_of_4, {{"SLURM_NTASKS_PER_NODE", "8"}}),
     "3/4 1/2 @1 Slurm step"},
    {"SLURM_NTASKS as in 23.02.2, ntasks-per-node times nodes of the job",
     with(k_srun_3_of_4, {{"SLURM_NTASKS", "8"}}),
     "3/4 1/2 @1 Slurm step"},
    {"--preserve-env: SLURM_NTASKS is the job's",
     with(k_srun_3_of_4, {{"SLURM_NTASKS", "64"}, {"SLURM_TASKS_PER_NODE", "32(x2)"}}),
     "3/4 1/2 @1 Slurm step"},
    {"a step that has only SLURM_NTASKS",
     without(k_srun_3_of_4, "SLURM_STEP_NUM_TASKS"),
     "3/4 1/2 @1 Slurm step"},
    {"the first task of such a step",
     without(srun(0, 4, 0, 0, "2(x2)", "0,1"), "SLURM_STEP_NUM_TASKS"),
     "0/4 0/2 @0 Slurm step"},
    {"a step that does not say its nodes' tasks",
     without(without(k_srun_3_of_4, "SLURM_STEP_TASKS_PER_NODE"), "SLURM_NODEID"),
     "3/4 1/- @- Slurm step"},
    {"a step without an id",
     {{"SLURM_PROCID", "3"}, {"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_LOCALID", "1"}},
     "3/4 1/- @- Slurm step"},
    {"DeepSpeed's --launcher slurm: srun with an exported RANK",
     with(k_srun_3_of_4, {{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"MASTER_ADDR", "n0"}}),
     "3/4 1/2 @1 Slurm step"},
    {"a leaked torchrun of one worker in a step of several",
     with(k_srun_3_of_4, torchrun(0, 1, 0, 1, 0)),
     "3/4 1/2 @1 Slurm step"},
    {"--mpi=pmix",
     with(k_srun_3_of_4,
          {{"PMIX_RANK", "3"},
           {"PMIX_NAMESPACE", "slurm.pmix.4711.0"},
           {"SLURM_MPI_TYPE", "pmix"},
           {"PMIX_SERVER_URI2", "pmix-server.1416;tcp4://127.0.0.1:56883"}}),
     "3/4 1/2 @1 PMIx"},
    {"PMIx's rank without a name space",
     with(k_srun_3_of_4, {{"PMIX_RANK", "3"}}),
     "3/4 1/2 @1 PMIx"},
    {"--mpi=none inside a step of --mpi=pmix",
     with(k_srun_3_of_4, {{"PMIX_RANK", "0"}, {"PMIX_NAMESPACE", "slurm.pmix.4711.2"}}),
     "3/4 1/2 @1 Slurm step"},
    {"--mpi=pmi2",
     with(k_srun_3_of_4,
          {{"PMI_RANK", "3"}, {"PMI_SIZE", "4"}, {"PMI_JOBID", "4711.0"}, {"PMI_FD", "13"}}),
     "3/4 1/2 @1 PMI"},
    {"PMI's rank without a job",
     with(k_srun_3_of_4, {{"PMI_RANK", "3"}, {"PMI_SIZE", "4"}}),
     "3/4 1/2 @1 PMI"},
    {"--mpi=none inside a step of --mpi=pmi2",
     with(k_srun_3_of_4,
          {{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}, {"PMI_JOBID", "4711.2"}, {"PMI_FD", "11"}}),
     "3/4 1/2 @1 Slurm step"},
};

const std::vector<Known> k_under_torchrun{
    {"torchrun", torchrun(1, 2, 1, 2, 0), "1/2 1/2 @0 torchrun"},
    {"torchrun --rdzv_id",
     with(torchrun(3, 4, 1, 2, 1), {{"TORCHELASTIC_RUN_ID", "7"}}),
     "3/4 1/2 @1 torchrun"},
    {"torchrun in a batch script",
     with(k_batch_of_4, torchrun(3, 4, 3, 4, 0)),
     "3/4 3/4 @0 torchrun"},
    {"one torchrun a node by srun, as TorchX does",
     with(srun(1, 2, 0, 1, "1(x2)", "1"), torchrun(3, 4, 1, 2, 1)),
     "3/4 1/2 @1 torchrun"},
    {"one torchrun a node by srun --mpi=pmix",
     with(with(srun(1, 2, 0, 1, "1(x2)", "1"),
               {{"PMIX_RANK", "1"}, {"PMIX_NAMESPACE", "slurm.pmix.4711.0"}}),
          torchrun(2, 4, 0, 2, 1)),
     "2/4 0/2 @1 torchrun"},
    {"nodes in the order of the rendezvous, not of Slurm",
     with(srun(0, 2, 0, 0, "1(x2)", "0"), torchrun(2, 4, 0, 2, 1)),
     "2/4 0/2 @1 torchrun"},
    {"torchrun in the shell of srun --pty",
     with(srun(0, 1, 0, 0, "1", "0"), torchrun(1, 2, 1, 2, 0)),
     "1/2 1/2 @0 torchrun"},
};

// clang-format on

void check(const std::vector<Known>& table) {
  for (const Known& known : table) {
    CAPTURE(known.where);
    const auto identity = identify(environment_of(known.variables));
    if (!identity) FAIL_CHECK(identity.error().message);
    if (identity) CHECK(text_of(*identity) == known.identity);
  }
}

}  // namespace

TEST_CASE("a process that no launcher started is standalone, whatever has leaked to it") {
  check(k_by_themselves);
}

TEST_CASE("a rank of mpirun or mpiexec knows itself, whatever Slurm says about the daemon above") {
  check(k_under_mpirun);
}

TEST_CASE("a task of srun knows itself, in every distribution and with every PMI") {
  check(k_under_srun);
}

TEST_CASE("a worker of torchrun knows itself") {
  check(k_under_torchrun);
}

TEST_CASE("a node's name is slurmd's, otherwise the host's") {
  CHECK(node_name(environment_of({{"SLURMD_NODENAME", "n1"}}), "host") == "n1");
  CHECK(node_name(environment_of({{"SLURMD_NODENAME", ""}}), "host") == "host");
  CHECK(node_name(environment_of({}), "host") == "host");
}
