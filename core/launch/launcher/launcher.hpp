// SPDX-License-Identifier: Apache-2.0
// What starts one `dtsubmit rank` for each rank: one interface, a file for each launcher
// (mpirun.cpp, mpiexec.cpp, srun.cpp, ssh.cpp), and which of them a job gets. A new launcher is a
// row of core/spec/launchers.inc and its file.
#pragma once

#include "core/base/os/environment.hpp"
#include "core/base/result.hpp"
#include "core/launch/launcher/identity_sources.hpp"
#include "core/launch/launcher/program_mpi.hpp"
#include "core/plan/plan.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dts::launch {

// For the launcher's own hwloc, which would otherwise open an X display and every OpenCL driver to
// look for GPUs, bind itself to each processor in turn and read every PCI device: 10 ms and more,
// for nothing. Set only if the user has not set it; `dtsubmit rank` removes it again.
inline constexpr std::pair k_launcher_hwloc{"HWLOC_COMPONENTS", "-gl,-opencl,-x86,-pci"};

// How long a launcher may take to answer.
inline constexpr std::chrono::seconds k_question_limit{10};

struct LaunchRequest {
  plan::Plan plan{};
  std::vector<std::string> rank_command{};  // run once for each rank
  std::vector<std::string> nodes{};         // the job's nodes to run on; empty: all
  std::vector<std::string> all_nodes{};     // the same, never empty in a job
  ProgramMpi program_mpi{};
  std::string dtsubmit{};  // our own program's path
  std::string run_directory{};
  unsigned attempt = 1;
  bool local = false;  // no scheduler: this machine only
  bool as_root = false;

  // A step that included a lost node, or whose slurmstepd was killed, holds its cores for as long
  // as the job lasts: the next one has to share them.
  [[nodiscard]] bool may_meet_steps() const { return !nodes.empty() || attempt > 1; }
};

struct LauncherCommand {
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> environment{};  // on top of the agent's
  std::string description{};    // for the log: "mpirun (Open MPI) 4.1.4"
  bool needs_sentinel = false;  // to be signalled on a preemption: see sentinel_command()
};

// One launcher. Everything but `ask` is pure.
struct LauncherType {
  // What it reports about itself on this machine; the other functions get this text. not_found if
  // the program is missing. May start a process.
  Result<std::string> (*ask)();
  // Whether it can start ranks here, given that answer. Errc::invalid: never without (or never
  // with) a scheduler, so `auto` does not mention it; not_found: it has to be installed, see the
  // hint.
  Result<void> (*available)(const Result<std::string>& answer, bool local);
  Result<LauncherCommand> (*command)(const LaunchRequest& request,
                                     const std::string& answer,
                                     const Lookup& environment);
  const Source* identity;  // the variables that identify a rank; nullptr: see identify()
  Mpi mpi;                 // the MPI that it belongs to; unknown: to none
  // Why it cannot start the ranks of a program of that MPI as one world, given its answer; nullptr:
  // only if `mpi` is another.
  Result<void> (*suits)(const std::string& answer, const LaunchRequest& request);
};

#define DTS_LAUNCHER(name, ...) extern const LauncherType k_##name##_launcher;
#include "core/spec/launchers.inc"
#undef DTS_LAUNCHER

[[nodiscard]] const LauncherType& type_of(spec::Launcher launcher);

struct LauncherChoice {
  spec::Launcher launcher = spec::Launcher::automatic;
  std::string answer{};  // from LauncherType::ask
  std::string why{};
};

using Ask = std::function<Result<std::string>(spec::Launcher)>;

// That of the plan, or for `automatic` the first that is available and suits the program: that of
// its own MPI, then mpirun before srun, since MPI programs work with it however Slurm was built.
// Asks no more launchers than it must. Errors: as LauncherType::available(); not_found if the one
// asked for would make a world of each rank, and if there is none at all.
[[nodiscard]] Result<LauncherChoice> choose_launcher(const LaunchRequest& request, const Ask& ask);

}  // namespace dts::launch
