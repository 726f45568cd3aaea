// SPDX-License-Identifier: Apache-2.0
// Environments in which a rank must not start: several worlds, half a launcher, bad numbers.
#include "core/launch/launcher/identity.hpp"
#include "tests/unit/launch/launcher_environments.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace {

using namespace dts;
using namespace dts::launch;

struct RefusedIdentity {
  const char* where;
  Environment variables;
  std::vector<const char*> named;  // what the message must say
};

const Environment k_torchrun = torchrun(3, 4, 1, 2, 1);

// clang-format off: one row per environment
const std::vector<RefusedIdentity> k_mixtures{
    {"mpirun in each of several tasks of a node",
     with(srun(0, 2, 0, 0, "2", "0,1"), mpirun(1, 2, 1, 2)),
     {"mpirun inside srun", "OMPI_COMM_WORLD_RANK=1 of 2", "task 0 of the 2"}},
    {"the same, where the world has the size of the step by chance",
     with(k_srun_1_of_4, mpirun(1, 4, 1, 4)),
     {"mpirun inside srun", "task 1 of the 4"}},
    {"mpirun in one task a node: its children",
     with(srun(1, 2, 0, 1, "1(x2)", "1"), mpirun(2, 4, 2, 4)),
     {"mpirun inside srun", "task 1 of the 2"}},
    {"mpirun in a later task of srun --pty",
     with(with(srun(1, 2, 1, 0, "2", "0,1"), {{"SLURM_PTY_PORT", "41267"}}), mpirun(1, 2, 1, 2)),
     {"mpirun inside srun"}},
    {"mpirun in a step that gives only the local id",
     with({{"SLURM_PROCID", "3"}, {"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_LOCALID", "1"}},
          without(mpirun(1, 2, 1, 2), "PMIX_SERVER_URI2")),
     {"mpirun inside srun"}},
    {"MPICH's mpiexec in each of several tasks",
     with(srun(0, 2, 0, 0, "2", "0,1"), hydra(1, 2, 1, 2)),
     {"mpirun inside srun", "PMI_RANK=1 of 2"}},
    {"mpirun of one rank in each of several tasks",
     with(k_srun_3_of_4, mpirun(0, 1, 0, 1)),
     {"OMPI_COMM_WORLD_SIZE=1", "task 3 of the 4", "world of one"}},
    {"an Open MPI that did not find Slurm's PMI",
     with(srun(1, 2, 0, 1, "1(x2)", "1"),
          {{"OMPI_COMM_WORLD_RANK", "0"},
           {"OMPI_COMM_WORLD_SIZE", "1"},
           {"OMPI_COMM_WORLD_LOCAL_RANK", "0"}}),
     {"OMPI_COMM_WORLD_SIZE=1", "world of one"}},
    {"the same where Slurm's PMIx server is there",
     with(k_srun_3_of_4,
          {{"OMPI_COMM_WORLD_RANK", "0"},
           {"OMPI_COMM_WORLD_SIZE", "1"},
           {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
           {"PMIX_SERVER_URI2", "pmix-server.1416;tcp4://127.0.0.1:56883"}}),
     {"OMPI_COMM_WORLD_SIZE=1", "world of one"}},
    {"a PMI of one in a step of several",
     with(k_srun_1_of_4, {{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}}),
     {"PMI_SIZE=1", "task 1 of the 4"}},
    {"the same seen by task 0",
     with(srun(0, 2, 0, 0, "1(x2)", "0"), {{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}}),
     {"PMI_SIZE=1"}},
    {"one torchrun a GPU instead of one a node",
     with(k_srun_1_of_4, torchrun(5, 8, 1, 2, 1)),
     {"torchrun inside srun", "LOCAL_WORLD_SIZE=2"}},
    {"mpirun's variables leaked into a task of srun --mpi=pmix",
     with(k_mpirun, {{"PMIX_RANK", "3"}}),
     {"OMPI_COMM_WORLD_RANK=5", "PMIX_RANK=3"}},
    {"PMIx's rank is not the step's",
     with(k_srun_3_of_4, {{"PMIX_RANK", "1"}, {"PMIX_NAMESPACE", "prterun-n0-1@1"}}),
     {"PMIX_RANK=1", "SLURM_PROCID=3"}},
    {"PMI's rank is not the step's",
     with(k_srun_3_of_4, {{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}}),
     {"PMI_RANK=1", "SLURM_PROCID=3"}},
    {"PMI's size is not the step's",
     with(k_srun_3_of_4, {{"PMI_RANK", "3"}, {"PMI_SIZE", "8"}}),
     {"PMI_SIZE=8", "SLURM_STEP_NUM_TASKS=4"}},
};

const std::vector<RefusedIdentity> k_halves{
    {"mpirun's rank without its size",
     without(k_mpirun, "OMPI_COMM_WORLD_SIZE"),
     {"OMPI_COMM_WORLD_RANK is set but OMPI_COMM_WORLD_SIZE is not", "Open MPI"}},
    {"mpirun's size without its rank",
     without(k_mpirun, "OMPI_COMM_WORLD_RANK"),
     {"OMPI_COMM_WORLD_SIZE is set but OMPI_COMM_WORLD_RANK is not"}},
    {"mpirun's rank without its local rank",
     without(k_mpirun, "OMPI_COMM_WORLD_LOCAL_RANK"),
     {"OMPI_COMM_WORLD_LOCAL_RANK"}},
    {"a half mpirun is not made whole by a step",
     with(k_srun_3_of_4, {{"OMPI_COMM_WORLD_RANK", "1"}}),
     {"OMPI_COMM_WORLD_SIZE"}},
    {"PMI without a size", {{"PMI_RANK", "1"}}, {"PMI_SIZE"}},
    {"PMI without a local rank", {{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}, {"MPI_LOCALRANKID"}},
    {"srun --mpi=pmi2 in a container without SLURM_*",
     {{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"PMI_JOBID", "4711.0"}},
     {"MPI_LOCALRANKID"}},
    {"srun --mpi=pmix in a container without SLURM_*",
     {{"PMIX_RANK", "1"}, {"PMIX_NAMESPACE", "slurm.pmix.4711.0"}},
     {"PMIX_RANK"}},
    {"prterun, which says no size",
     {{"PMIX_RANK", "1"}, {"PMIX_NAMESPACE", "prterun-n0-1@1"}},
     {"PMIX_RANK"}},
    {"MVAPICH2 without a local rank",
     {{"MV2_COMM_WORLD_RANK", "1"}, {"MV2_COMM_WORLD_SIZE", "2"}},
     {"MV2_COMM_WORLD_LOCAL_RANK"}},
    {"a step without the local id", without(k_srun_3_of_4, "SLURM_LOCALID"), {"SLURM_LOCALID"}},
    {"a step's third task without any size",
     {{"SLURM_PROCID", "3"}, {"SLURM_LOCALID", "1"}, {"SLURM_NTASKS", "4"}},
     {"SLURM_STEP_NUM_TASKS"}},
    {"a step's task without any size",
     without(without(k_srun_3_of_4, "SLURM_STEP_NUM_TASKS"), "SLURM_NTASKS"),
     {"SLURM_NTASKS"}},
    {"torchrun without its size", without(k_torchrun, "WORLD_SIZE"), {"WORLD_SIZE", "torchrun"}},
    {"torchrun without its local rank",
     without(k_torchrun, "LOCAL_RANK"),
     {"LOCAL_RANK", "torchrun"}},
};

const std::vector<RefusedIdentity> k_numbers{
    {"a negative rank",
     with(k_mpirun, {{"OMPI_COMM_WORLD_RANK", "-1"}}),
     {"OMPI_COMM_WORLD_RANK=`-1`"}},
    {"an empty rank", with(k_mpirun, {{"OMPI_COMM_WORLD_RANK", ""}}), {"OMPI_COMM_WORLD_RANK"}},
    {"a word for a rank", with(k_srun_3_of_4, {{"SLURM_PROCID", "three"}}), {"SLURM_PROCID"}},
    {"a number with a tail",
     with(k_mpirun, {{"OMPI_COMM_WORLD_SIZE", "8 "}}),
     {"OMPI_COMM_WORLD_SIZE"}},
    {"a number past 64 bits",
     with(k_mpirun, {{"OMPI_COMM_WORLD_SIZE", "99999999999999999999"}}),
     {"OMPI_COMM_WORLD_SIZE"}},
    {"a size past all machines",
     with(k_mpirun, {{"OMPI_COMM_WORLD_SIZE", "4294967297"}}),
     {"OMPI_COMM_WORLD_SIZE"}},
    {"a rank not below the size",
     with(k_mpirun, {{"OMPI_COMM_WORLD_RANK", "8"}}),
     {"OMPI_COMM_WORLD_RANK=8 in a world of 8"}},
    {"a world of none", with(k_mpirun, {{"OMPI_COMM_WORLD_SIZE", "0"}}), {"in a world of 0"}},
    {"a local rank not below the node's ranks",
     with(k_mpirun, {{"OMPI_COMM_WORLD_LOCAL_RANK", "4"}}),
     {"OMPI_COMM_WORLD_LOCAL_RANK=4"}},
    {"a local rank not below the size",
     with(without(k_mpirun, "OMPI_COMM_WORLD_LOCAL_SIZE"), {{"OMPI_COMM_WORLD_LOCAL_RANK", "8"}}),
     {"OMPI_COMM_WORLD_LOCAL_RANK=8"}},
    {"more ranks on a node than there are",
     with(k_mpirun, {{"OMPI_COMM_WORLD_LOCAL_SIZE", "9"}}),
     {"OMPI_COMM_WORLD_LOCAL_SIZE"}},
    {"a local id not below the node's tasks",
     with(k_srun_3_of_4, {{"SLURM_LOCALID", "2"}}),
     {"SLURM_LOCALID=2"}},
    {"a node past the step's",
     with(k_srun_3_of_4, {{"SLURM_NODEID", "2"}}),
     {"SLURM_NODEID=2 in a step of 2 nodes"}},
    {"a step whose counts are none",
     with(k_srun_3_of_4, {{"SLURM_STEP_TASKS_PER_NODE", "2(x"}}),
     {"2(x"}},
    {"a step whose counts are of another size",
     with(k_srun_3_of_4, {{"SLURM_STEP_TASKS_PER_NODE", "8(x2)"}}),
     {"SLURM_STEP_NUM_TASKS=4", "16 tasks"}},
    {"SLURM_NTASKS of 23.02.2 where it is all there is",
     with(without(k_srun_3_of_4, "SLURM_STEP_NUM_TASKS"), {{"SLURM_NTASKS", "8"}}),
     {"SLURM_NTASKS=8", "4 tasks"}},
    {"PMIx's rank is a word", with(k_srun_3_of_4, {{"PMIX_RANK", "all"}}), {"PMIX_RANK"}},
    {"torchrun's rank not below its size",
     with(k_torchrun, {{"RANK", "4"}}),
     {"RANK=4 in a world of 4"}},
};

// clang-format on

void check(const std::vector<RefusedIdentity>& table) {
  for (const RefusedIdentity& refused : table) {
    CAPTURE(refused.where);
    const auto identity = identify(environment_of(refused.variables));
    CHECK_FALSE(identity);
    if (identity) continue;
    CHECK(identity.error().code == Errc::invalid);
    CAPTURE(identity.error().message);
    for (const char* named : refused.named)
      CHECK(identity.error().message.find(named) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("nested launchers are refused by name, before each starts its own world") {
  check(k_mixtures);
}

TEST_CASE("an incomplete set of a launcher's variables is refused, naming the missing one") {
  check(k_halves);
}

TEST_CASE("invalid or inconsistent numbers are refused, naming the variable") {
  check(k_numbers);
}

TEST_CASE("the error for every mixture says what to do") {
  for (const RefusedIdentity& refused : k_mixtures) {
    CAPTURE(refused.where);
    CHECK_FALSE(identify(environment_of(refused.variables)).error().hint.empty());
  }
}
