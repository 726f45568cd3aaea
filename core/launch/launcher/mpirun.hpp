// SPDX-License-Identifier: Apache-2.0
// mpirun as Open MPI's launcher. Pure.
#pragma once

#include "core/launch/launcher/launcher.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::launch {

// The major release of Open MPI: 5 for "mpirun (Open MPI) 5.0.11". nullopt for the mpirun of
// another MPI (Hydra of MPICH or Intel MPI), which does not have the options of mpirun_command().
[[nodiscard]] std::optional<unsigned> open_mpi_release(std::string_view version);

// True if a variable of the site's, or the user's, chooses how Open MPI starts its daemons on other
// nodes, which by default is srun in a job of Slurm's.
[[nodiscard]] bool is_told_how_to_reach_nodes(const Lookup& environment);

// mpirun(1) of Open MPI: ppr:N:node places exactly N ranks on each node (-np alone would
// fill the first node). Binding is left to `dtsubmit rank`, which knows the GPUs. mpirun's
// daemons on other nodes run below `dtsubmit orted` or `dtsubmit prted`, which shield them
// (see step_daemon.hpp). Since release 5, mpirun calls prterun(1): oversubscription is a
// qualifier of --map-by, and only a variable replaces the daemon (5.0.11 accepts
// --launch-agent, but still starts its own prted).
[[nodiscard]] LauncherCommand mpirun_command(const LaunchRequest& request, unsigned release);

}  // namespace dts::launch
