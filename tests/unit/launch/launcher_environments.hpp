// SPDX-License-Identifier: Apache-2.0
// What launchers set for a process, as seen with Slurm 22.05, Open MPI 4.1, MPICH 4.0 and torchrun
// 1.13, without what is not needed to identify a rank. Others are in the tables that use them.
#pragma once

#include "tests/unit/launch/environment_of.hpp"

#include <fmt/format.h>

#include <string>

namespace dts::launch {

inline Environment with(Environment base, const Environment& more) {
  for (const auto& [name, value] : more) base[name] = value;
  return base;
}

inline Environment without(Environment base, const char* name) {
  base.erase(name);
  return base;
}

// mpirun of Open MPI 4. `daemon`: 0 for a child of mpirun itself, otherwise of an orted elsewhere.
inline Environment mpirun(
    unsigned rank, unsigned size, unsigned local, unsigned local_size, unsigned daemon = 0) {
  return {{"OMPI_COMM_WORLD_RANK", std::to_string(rank)},
          {"OMPI_COMM_WORLD_SIZE", std::to_string(size)},
          {"OMPI_COMM_WORLD_LOCAL_RANK", std::to_string(local)},
          {"OMPI_COMM_WORLD_LOCAL_SIZE", std::to_string(local_size)},
          {"OMPI_COMM_WORLD_NODE_RANK", std::to_string(local)},
          {"OMPI_UNIVERSE_SIZE", std::to_string(size)},
          {"PMIX_RANK", std::to_string(rank)},
          {"PMIX_NAMESPACE", "540409857"},
          {"PMIX_SERVER_URI2", fmt::format("540409856.{};tcp4://10.0.0.1:36425", daemon)}};
}

// mpiexec of MPICH or Intel MPI (Hydra).
inline Environment hydra(unsigned rank, unsigned size, unsigned local, unsigned local_size) {
  return {{"PMI_RANK", std::to_string(rank)},
          {"PMI_SIZE", std::to_string(size)},
          {"PMI_FD", "8"},
          {"MPI_LOCALRANKID", std::to_string(local)},
          {"MPI_LOCALNRANKS", std::to_string(local_size)}};
}

// A worker of torchrun.
inline Environment torchrun(
    unsigned rank, unsigned size, unsigned local, unsigned local_size, unsigned group) {
  return {{"RANK", std::to_string(rank)},
          {"WORLD_SIZE", std::to_string(size)},
          {"LOCAL_RANK", std::to_string(local)},
          {"LOCAL_WORLD_SIZE", std::to_string(local_size)},
          {"GROUP_RANK", std::to_string(group)},
          {"GROUP_WORLD_SIZE", std::to_string(size / local_size)},
          {"ROLE_RANK", std::to_string(rank)},
          {"MASTER_ADDR", "n0"},
          {"MASTER_PORT", "29500"},
          {"TORCHELASTIC_RUN_ID", "none"},
          {"TORCHELASTIC_RESTART_COUNT", "0"}};
}

// A task of srun, step 0 of job 4711. `counts`: SLURM_STEP_TASKS_PER_NODE; `gtids`: the tasks of
// its node.
inline Environment srun(unsigned task,
                        unsigned tasks,
                        unsigned local,
                        unsigned node,
                        const char* counts,
                        const char* gtids) {
  return {{"SLURM_JOB_ID", "4711"},
          {"SLURM_STEP_ID", "0"},
          {"SLURM_PROCID", std::to_string(task)},
          {"SLURM_LOCALID", std::to_string(local)},
          {"SLURM_NODEID", std::to_string(node)},
          {"SLURM_GTIDS", gtids},
          {"SLURM_NTASKS", std::to_string(tasks)},
          {"SLURM_NPROCS", std::to_string(tasks)},
          {"SLURM_TASKS_PER_NODE", counts},
          {"SLURM_STEP_NUM_TASKS", std::to_string(tasks)},
          {"SLURM_STEP_TASKS_PER_NODE", counts}};
}

// The batch script of job 4711, on its first node.
inline Environment sbatch(unsigned tasks, const char* counts) {
  return {{"SLURM_JOB_ID", "4711"},
          {"SLURM_PROCID", "0"},
          {"SLURM_LOCALID", "0"},
          {"SLURM_NODEID", "0"},
          {"SLURM_GTIDS", "0"},
          {"SLURM_NTASKS", std::to_string(tasks)},
          {"SLURM_NPROCS", std::to_string(tasks)},
          {"SLURM_TASKS_PER_NODE", counts}};
}

inline const Environment k_srun_1_of_4 = srun(1, 4, 1, 0, "2(x2)", "0,1");
inline const Environment k_srun_3_of_4 = srun(3, 4, 1, 1, "2(x2)", "2,3");
inline const Environment k_batch_of_4 = sbatch(4, "2(x2)");
// mpirun's orted on the second of three nodes: a task of a step on the two nodes besides the head.
inline const Environment k_mpirun = mpirun(5, 8, 1, 4);
inline const Environment k_orted_step = srun(0, 2, 0, 0, "1(x2)", "0");

}  // namespace dts::launch
