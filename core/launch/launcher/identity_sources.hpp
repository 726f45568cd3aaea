// SPDX-License-Identifier: Apache-2.0
// The variables that identify a rank under each launcher, read from one source at a time;
// identify() chooses between the sources. Pure.
#pragma once

#include "core/base/os/environment.hpp"
#include "core/launch/launcher/identity.hpp"

#include <optional>
#include <string>

namespace dts::launch {

// Names of variables; nullptr if the launcher sets none with that meaning.
struct Source {
  const char* name;
  const char* rank;
  const char* world_size;
  const char* local_rank;
  const char* local_size;
  const char* node_rank;
};

inline constexpr Source k_open_mpi{"Open MPI",
                                   "OMPI_COMM_WORLD_RANK",
                                   "OMPI_COMM_WORLD_SIZE",
                                   "OMPI_COMM_WORLD_LOCAL_RANK",
                                   "OMPI_COMM_WORLD_LOCAL_SIZE",
                                   // OMPI_COMM_WORLD_NODE_RANK is not the number of a node.
                                   nullptr};
inline constexpr Source k_mvapich2{"MVAPICH2",
                                   "MV2_COMM_WORLD_RANK",
                                   "MV2_COMM_WORLD_SIZE",
                                   "MV2_COMM_WORLD_LOCAL_RANK",
                                   "MV2_COMM_WORLD_LOCAL_SIZE",
                                   nullptr};
// Hydra's mpiexec: MPICH and Intel MPI.
inline constexpr Source k_pmi{
    "PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", nullptr};
inline constexpr Source k_torchrun{
    "torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK"};

// Errc::invalid, naming the variable, if rank, world_size or local_rank is missing, a value is not
// a number, or the numbers contradict each other.
[[nodiscard]] Result<Identity> read_source(const Source& source, const Lookup& lookup);

// Reads a variable that `source` must set; Errc::invalid if it is missing or not a number.
[[nodiscard]] Result<unsigned> read_number(const Source& source,
                                           const char* name,
                                           const Lookup& lookup);

// The Slurm step in which this process, or the daemon that started it, is a task.
struct SlurmStep {
  Identity identity;               // source "Slurm step"
  std::string id;                  // "4711.0"; empty if Slurm did not set it
  bool several_on_a_node = false;  // at least one node of the step has more than one task
};

// nullopt: not in a step, but in a batch script, a shell of salloc or ssh, or without Slurm. Such a
// process has some of these variables, too, and may have inherited those of another step, since a
// job that is submitted from a step inherits the step's variables. Errc::invalid as read_source().
[[nodiscard]] Result<std::optional<SlurmStep>> slurm_step(const Lookup& lookup);

}  // namespace dts::launch
