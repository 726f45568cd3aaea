// SPDX-License-Identifier: Apache-2.0
// srun(1) as a launcher. Pure.
#pragma once

#include "core/launch/launcher/launcher.hpp"

#include <string>
#include <string_view>

namespace dts::launch {

// A setting of Slurm's PMIx plug-in under srun. With more than one node, its tree fence at the end
// of MPI_Init can release a process before others have arrived. Its first message then reaches a
// peer that has not yet registered a callback for it and dies of SIGSEGV (Slurm 22.05.8 with Open
// MPI 4.1.4: 7 of 50 starts of 16 processes that begin within 0.1 s; none with the ring). Used only
// if the user has not set this variable.
inline constexpr std::pair k_pmix_fence{"SLURM_PMIX_FENCE", "ring"};

// The best plug-in in `list`, the output of `srun --mpi=list`, that the program's MPI supports:
// pmix, otherwise pmi2, otherwise none.
[[nodiscard]] std::string mpi_type_of(std::string_view list, const ProgramMpi& program);

// One step on all nodes of the job, or on `nodes`. `mpi`: the value of --mpi, or of mpi_type_of().
// Tasks are placed as planned, regardless of the site's default distribution, and bound by
// `dtsubmit rank`, which knows the GPUs.
[[nodiscard]] LauncherCommand srun_command(const LaunchRequest& request, const std::string& mpi);

}  // namespace dts::launch
