// SPDX-License-Identifier: Apache-2.0
// mpirun of Open MPI. Pure.
#pragma once

#include "core/launch/launcher/launcher.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::launch {

// The release of Open MPI in "mpirun (Open MPI) 5.0.11": 5. nullopt for the mpirun of another MPI
// (Hydra of MPICH, Intel MPI): its options are not those of mpirun_command().
[[nodiscard]] std::optional<unsigned> open_mpi_release(std::string_view version);

// mpirun(1) of Open MPI: ppr:N:node places exactly N ranks on each node (-np alone would fill the
// first node); binding is left to `dtsubmit rank`, which knows the GPUs. mpirun's daemons on other
// nodes run below `dtsubmit orted` or `dtsubmit prted`, which shield them (see step_daemon.hpp).
// Since release 5 it calls prterun(1): oversubscription is a qualifier of --map-by, and only a
// variable changes the daemon (5.0.11 accepts --launch-agent, but starts its own prted all the
// same).
[[nodiscard]] LauncherCommand mpirun_command(const LaunchRequest& request, unsigned release);

}  // namespace dts::launch
