// SPDX-License-Identifier: Apache-2.0
// The command line that starts `dtsubmit rank` once per rank. Pure.
#pragma once

#include "core/base/result.hpp"
#include "core/plan/plan.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dts::launch {

// For the launcher's own hwloc, which would open an X display and every OpenCL driver to look for
// GPUs, bind itself to each processor in turn and read every PCI device: 10 ms and more, for
// nothing. Only where the user has no such variable; `dtsubmit rank` takes it away again.
inline constexpr std::pair k_launcher_hwloc{"HWLOC_COMPONENTS", "-gl,-opencl,-x86,-pci"};

// For Slurm's PMIx plug-in under srun. With more than one node its tree fence, with which MPI_Init
// ends, can let a process go before others have come: its first message then finds a peer without
// the callback for it, which dies of SIGSEGV (Slurm 22.05.8 with Open MPI 4.1.4: 7 of 50 starts of
// 16 processes that begin within 0.1 s; with the ring none). Only where the user has no such
// variable.
inline constexpr std::pair k_pmix_fence{"SLURM_PMIX_FENCE", "ring"};

struct LauncherCommand {
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> environment;  // on top of the agent's
};

struct LauncherChoice {
  std::string name;  // "mpirun" or "srun"
  std::string why;
};

// What is there to launch with, on the agent's node.
struct LauncherFacts {
  bool local = false;                 // no scheduler: this machine only
  std::optional<std::string> mpirun;  // the first line of `mpirun --version`; nullopt: no mpirun
  bool srun = false;
};

// The release of Open MPI in "mpirun (Open MPI) 5.0.11": 5. nullopt for what other makers' mpirun
// says of itself (Hydra of MPICH, Intel MPI): its options are not those of mpirun_command().
[[nodiscard]] std::optional<unsigned> open_mpi_release(std::string_view version);

// `asked` is auto, mpirun or srun. Errc::not_found where it is not there or is not Open MPI's,
// Errc::invalid for srun without an allocation.
[[nodiscard]] Result<LauncherChoice> choose_launcher(const std::string& asked,
                                                     const LauncherFacts& facts);

// The best of what `srun --mpi=list` names for MPI programs: pmix, else pmi2, else none.
[[nodiscard]] std::string mpi_type_of(std::string_view list);

// srun(1): one step over the whole job, or those of its `nodes` (empty: all). `mpi` as
// mpi_type_of() gave it. Tasks are placed as planned whatever distribution the site prefers, and
// bound by `dtsubmit rank`, which knows the GPUs.
[[nodiscard]] LauncherCommand srun_command(const plan::Plan& plan,
                                           const std::string& mpi,
                                           const std::vector<std::string>& rank_command,
                                           const std::vector<std::string>& nodes = {});

struct MpirunSettings {
  unsigned release = 4;  // as open_mpi_release() gave it
  bool local = false;    // this machine only
  bool as_root = false;
  std::string dtsubmit;              // our own program's path
  std::vector<std::string> nodes{};  // of the job's, to run on; empty: all
};

// mpirun(1) of Open MPI: ppr:N:node places exactly N ranks a node (-np alone would fill the first
// node), binding is left to `dtsubmit rank`, which knows the GPUs. mpirun's daemons on other nodes
// run below `dtsubmit orted` or `dtsubmit prted`, which shield them (see step_daemon.hpp).
// Since release 5, prterun(1) is behind it: oversubscription is a word of --map-by, and the daemon
// is only changed by a variable (5.0.11 takes --launch-agent, and starts its own prted all the
// same).
[[nodiscard]] LauncherCommand mpirun_command(const plan::Plan& plan,
                                             const MpirunSettings& settings,
                                             const std::vector<std::string>& rank_command);

// A step of one process on each of `nodes`, beside whatever runs there. Only with GPUs may it see
// them.
[[nodiscard]] std::vector<std::string> check_command(const std::vector<std::string>& nodes,
                                                     bool with_gpus,
                                                     const std::vector<std::string>& measure);

// A step of one process that does nothing but hear the SIGTERM that starts a preemption's grace
// time: Slurm sends that to steps only, and a job on one node under mpirun has none.
[[nodiscard]] std::vector<std::string> sentinel_command(const std::string& dtsubmit);

}  // namespace dts::launch
