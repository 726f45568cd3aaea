// SPDX-License-Identifier: Apache-2.0
// srun(1) as a launcher. Pure.
#pragma once

#include "core/launch/launcher/launcher.hpp"

#include <string>
#include <string_view>

namespace dts::launch {

// For Slurm's PMIx plug-in under srun. With more than one node, its tree fence at the end of
// MPI_Init can release a process before others have arrived: its first message then reaches a peer
// without the callback for it, which dies of SIGSEGV (Slurm 22.05.8 with Open MPI 4.1.4: 7 of 50
// starts of 16 processes that begin within 0.1 s; with the ring none). Only if the user has not set
// this variable.
inline constexpr std::pair k_pmix_fence{"SLURM_PMIX_FENCE", "ring"};

// The best plug-in for the program in the output of `srun --mpi=list`: pmix, otherwise pmi2,
// otherwise none, of those that its MPI knows.
[[nodiscard]] std::string mpi_type_of(std::string_view list, const ProgramMpi& program);

// One step over the whole job, or over `nodes` of it. `mpi`: --mpi, or mpi_type_of(). Tasks are
// placed as planned, whatever distribution the site prefers, and bound by `dtsubmit rank`, which
// knows the GPUs.
[[nodiscard]] LauncherCommand srun_command(const LaunchRequest& request, const std::string& mpi);

}  // namespace dts::launch
