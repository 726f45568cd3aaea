// SPDX-License-Identifier: Apache-2.0
// mpirun of Open MPI. Pure.
#pragma once

#include "core/launch/launcher/launcher.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::launch {

// The release of Open MPI in "mpirun (Open MPI) 5.0.11": 5. nullopt for what other makers' mpirun
// says of itself (Hydra of MPICH, Intel MPI): its options are not those of mpirun_command().
[[nodiscard]] std::optional<unsigned> open_mpi_release(std::string_view version);

// mpirun(1) of Open MPI: ppr:N:node places exactly N ranks a node (-np alone would fill the first
// node), binding is left to `dtsubmit rank`, which knows the GPUs. mpirun's daemons on other nodes
// run below `dtsubmit orted` or `dtsubmit prted`, which shield them (see step_daemon.hpp).
// Since release 5, prterun(1) is behind it: oversubscription is a word of --map-by, and the daemon
// is only changed by a variable (5.0.11 takes --launch-agent, and starts its own prted all the
// same).
[[nodiscard]] LauncherCommand mpirun_command(const LaunchRequest& request, unsigned release);

}  // namespace dts::launch
