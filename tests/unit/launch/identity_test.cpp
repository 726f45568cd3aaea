// SPDX-License-Identifier: Apache-2.0
// Who a process is, in the environments that launchers really make and that leak between them.
#include "core/launch/identity.hpp"

#include "tests/unit/launch/environment_of.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace {

using namespace dts;
using namespace dts::launch;

struct Known {
  const char* where;
  Variables variables;
  unsigned rank, world_size, local_rank;
  const char* source;
};

// What mpirun gives rank 5 of 8, the second on its node.
const Variables k_mpirun{{"OMPI_COMM_WORLD_RANK", "5"},
                         {"OMPI_COMM_WORLD_SIZE", "8"},
                         {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}};
// What srun gives rank 3 of 4.
const Variables k_srun{{"SLURM_PROCID", "3"},
                       {"SLURM_STEP_NUM_TASKS", "4"},
                       {"SLURM_LOCALID", "1"},
                       {"SLURM_NTASKS", "4"},
                       {"SLURM_STEP_ID", "0"}};
// What sbatch gives the batch script of a job of 16 tasks.
const Variables k_batch{{"SLURM_PROCID", "0"},
                        {"SLURM_LOCALID", "0"},
                        {"SLURM_NTASKS", "16"},
                        {"SLURM_NPROCS", "16"},
                        {"SLURM_JOB_ID", "7"}};
const Variables k_mpich{{"PMI_RANK", "2"}, {"PMI_SIZE", "4"}, {"MPI_LOCALRANKID", "0"}};

Variables with(Variables base, const Variables& more) {
  for (const auto& [name, value] : more) base[name] = value;
  return base;
}

Variables without(Variables base, const char* name) {
  base.erase(name);
  return base;
}

const std::vector<Known> k_known{
    {"a login shell", {}, 0, 1, 0, "none"},
    {"a shell with another program's variables",
     {{"RANK", "3"}, {"WORLD_SIZE", "9"}, {"LOCAL_RANK", "3"}},
     0,
     1,
     0,
     "none"},
    {"mpirun", k_mpirun, 5, 8, 1, "Open MPI"},
    {"mpirun of one rank",
     {{"OMPI_COMM_WORLD_RANK", "0"},
      {"OMPI_COMM_WORLD_SIZE", "1"},
      {"OMPI_COMM_WORLD_LOCAL_RANK", "0"}},
     0,
     1,
     0,
     "Open MPI"},
    {"mpirun in a batch script: SLURM_PROCID is the script's",
     with(k_batch, k_mpirun),
     5,
     8,
     1,
     "Open MPI"},
    {"mpirun whose orted is an srun step: SLURM_* are the daemon's",
     with(k_srun, k_mpirun),
     5,
     8,
     1,
     "Open MPI"},
    {"mpirun with PMI variables of a shell that MPICH started",
     with(k_mpich, k_mpirun),
     5,
     8,
     1,
     "Open MPI"},
    {"mpirun with a leaked rank that is no number",
     with(k_mpirun, {{"PMI_RANK", "x"}, {"SLURM_PROCID", "y"}}),
     5,
     8,
     1,
     "Open MPI"},
    {"mpirun with PMIx's own variables",
     with(k_mpirun, {{"PMIX_RANK", "5"}, {"PMIX_NAMESPACE", "job.1"}}),
     5,
     8,
     1,
     "Open MPI"},
    {"MPICH's mpiexec", k_mpich, 2, 4, 0, "PMI"},
    {"MPICH's mpiexec in a batch script", with(k_batch, k_mpich), 2, 4, 0, "PMI"},
    {"MPICH's mpiexec in a step", with(k_srun, k_mpich), 2, 4, 0, "PMI"},
    {"srun", k_srun, 3, 4, 1, "Slurm step"},
    {"srun of one task",
     {{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_LOCALID", "0"}},
     0,
     1,
     0,
     "Slurm step"},
    {"srun with only PMIx's rank beside it",
     with(k_srun, {{"PMIX_RANK", "3"}}),
     3,
     4,
     1,
     "Slurm step"},
    {"a batch script itself", k_batch, 0, 1, 0, "none"},
    {"a batch script of a large job", with(k_batch, {{"SLURM_NTASKS", "512"}}), 0, 1, 0, "none"},
    {"salloc's shell",
     {{"SLURM_JOB_ID", "7"}, {"SLURM_NTASKS", "4"}, {"SLURM_NNODES", "2"}},
     0,
     1,
     0,
     "none"},
    {"the last rank",
     {{"OMPI_COMM_WORLD_RANK", "7"},
      {"OMPI_COMM_WORLD_SIZE", "8"},
      {"OMPI_COMM_WORLD_LOCAL_RANK", "7"}},
     7,
     8,
     7,
     "Open MPI"},
};

struct Refused {
  const char* where;
  Variables variables;
  const char* named;  // the variable that the message must name
};

const std::vector<Refused> k_refused{
    {"mpirun's rank without its size",
     without(k_mpirun, "OMPI_COMM_WORLD_SIZE"),
     "OMPI_COMM_WORLD_SIZE"},
    {"mpirun's rank without its local rank",
     without(k_mpirun, "OMPI_COMM_WORLD_LOCAL_RANK"),
     "OMPI_COMM_WORLD_LOCAL_RANK"},
    {"a half mpirun is not made whole by a step",
     with(k_srun, {{"OMPI_COMM_WORLD_RANK", "1"}}),
     "OMPI_COMM_WORLD_SIZE"},
    {"PMI without a size", {{"PMI_RANK", "1"}}, "PMI_SIZE"},
    {"a step without the local id", without(k_srun, "SLURM_LOCALID"), "SLURM_LOCALID"},
    {"a negative rank", with(k_mpirun, {{"OMPI_COMM_WORLD_RANK", "-1"}}), "OMPI_COMM_WORLD_RANK"},
    {"an empty rank", with(k_mpirun, {{"OMPI_COMM_WORLD_RANK", ""}}), "OMPI_COMM_WORLD_RANK"},
    {"a word for a rank", with(k_srun, {{"SLURM_PROCID", "three"}}), "SLURM_PROCID"},
    {"a number with a tail",
     with(k_mpirun, {{"OMPI_COMM_WORLD_SIZE", "8 "}}),
     "OMPI_COMM_WORLD_SIZE"},
    {"a number past 64 bits",
     with(k_mpirun, {{"OMPI_COMM_WORLD_SIZE", "99999999999999999999"}}),
     "OMPI_COMM_WORLD_SIZE"},
    {"a size past all machines",
     with(k_mpirun, {{"OMPI_COMM_WORLD_SIZE", "4294967297"}}),
     "OMPI_COMM_WORLD_SIZE"},
    {"a rank not below the size",
     with(k_mpirun, {{"OMPI_COMM_WORLD_RANK", "8"}}),
     "OMPI_COMM_WORLD_RANK"},
    {"a world of none", with(k_mpirun, {{"OMPI_COMM_WORLD_SIZE", "0"}}), "OMPI_COMM_WORLD_RANK"},
};

}  // namespace

TEST_CASE("a process knows its rank in every environment that a launcher makes") {
  for (const Known& known : k_known) {
    CAPTURE(known.where);
    const auto identity = identify(environment_of(known.variables));
    REQUIRE(identity);
    CHECK(identity->rank == known.rank);
    CHECK(identity->world_size == known.world_size);
    CHECK(identity->local_rank == known.local_rank);
    CHECK(identity->source == known.source);
  }
}

TEST_CASE(
    "an environment that is there only in part, or is no number, is refused by the variable's "
    "name") {
  for (const Refused& refused : k_refused) {
    CAPTURE(refused.where);
    const auto identity = identify(environment_of(refused.variables));
    REQUIRE_FALSE(identity);
    CHECK(identity.error().code == Errc::invalid);
    CAPTURE(identity.error().message);
    CHECK(identity.error().message.find(refused.named) != std::string::npos);
  }
}

TEST_CASE("a node's name is slurmd's, else the host's") {
  CHECK(node_name(environment_of({{"SLURMD_NODENAME", "n1"}}), "host") == "n1");
  CHECK(node_name(environment_of({{"SLURMD_NODENAME", ""}}), "host") == "host");
  CHECK(node_name(environment_of({}), "host") == "host");
}
