// SPDX-License-Identifier: Apache-2.0
// mpiexec as Hydra, the process manager of MPICH, Intel MPI and MVAPICH. Pure.
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

// `answer`: "PROGRAM
// ", then the output of PROGRAM --version. nullopt: it belongs to another MPI.
[[nodiscard]] std::optional<Hydra> hydra_of(std::string_view answer);

// In a job, Hydra calls srun to start a proxy on each of the job's nodes, the first included, below
// `dtsubmit hydra`, which shields the proxy (see step_daemon.hpp). With -genvnone, each rank gets
// the variables that its proxy has from srun, instead of those of mpiexec's own node.
// `extra`: arguments that the user has set for Hydra's srun.
[[nodiscard]] LauncherCommand mpiexec_command(const LaunchRequest& request,
                                              const Hydra& hydra,
                                              const std::string& extra);

// Marks the arguments of an srun as those of Intel MPI's Hydra.
inline constexpr std::string_view k_hydra_srun = "hydra-srun";

// Intel MPI's Hydra puts our words among the options of srun, and never before the proxy. Therefore
// it starts `dtsubmit -N 2 ... hydra-srun ... PROXY ...` instead of srun, and this function returns
// the srun command with `dtsubmit hydra` before the proxy.
[[nodiscard]] std::vector<std::string> shielded_srun(std::vector<std::string> arguments,
                                                     const std::string& dtsubmit);

}  // namespace dts::launch
