// SPDX-License-Identifier: Apache-2.0
// Hydra, which is mpiexec of MPICH, Intel MPI and MVAPICH. Pure.
#pragma once

#include "core/launch/launcher/launcher.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::launch {

struct Hydra {
  std::string program;  // "mpiexec", "mpiexec.hydra", ...
  std::string release;  // "HYDRA 4.0.2", "Intel(R) MPI Library 2021.19.0"
  bool of_intel = false;
};

// From "PROGRAM\n" and what PROGRAM --version wrote; nullopt: it is another MPI's.
[[nodiscard]] std::optional<Hydra> hydra_of(std::string_view answer);

// In a job, Hydra's srun starts a proxy on each of the job's nodes, the first included, below
// `dtsubmit hydra`, which shields it (see step_daemon.hpp). -genvnone: each rank has the variables
// of its proxy, which are srun's; those of mpiexec's own node would replace them.
// `extra`: what the user has set for Hydra's srun.
[[nodiscard]] LauncherCommand mpiexec_command(const LaunchRequest& request,
                                              const Hydra& hydra,
                                              const std::string& extra);

// The word that marks the arguments of an srun as those of Intel MPI's Hydra.
inline constexpr std::string_view k_hydra_srun = "hydra-srun";

// `dtsubmit -N 2 ... hydra-srun ... PROXY ...`: what Intel MPI's Hydra starts for srun, since it
// puts our words among srun's options and never before the proxy: the srun with `dtsubmit hydra`
// there.
[[nodiscard]] std::vector<std::string> shielded_srun(std::vector<std::string> arguments,
                                                     const std::string& dtsubmit);

}  // namespace dts::launch
