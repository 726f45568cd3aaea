// SPDX-License-Identifier: Apache-2.0
// Launchers start one `dtsubmit rank` per rank. They share one interface, with one file per
// launcher (mpirun.cpp, mpiexec.cpp, srun.cpp, ssh.cpp); choose_launcher() decides which of them a
// job gets. A new launcher needs a row in core/spec/launchers.inc and its file.
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

// Restricts the launcher's own hwloc, which would otherwise look for GPUs through an X display and
// every OpenCL driver, bind itself to each processor in turn and read every PCI device: 10 ms or
// more, for nothing. Set only if the user has not set it; `dtsubmit rank` removes it again.
inline constexpr std::pair k_launcher_hwloc{"HWLOC_COMPONENTS", "-gl,-opencl,-x86,-pci"};

// How long a launcher may take to answer LauncherType::ask.
inline constexpr std::chrono::seconds k_question_limit{10};

struct LaunchRequest {
  plan::Plan plan{};
  std::vector<std::string> rank_command{};  // argv of `dtsubmit rank`, run once for each rank
  std::vector<std::string> nodes{};         // the nodes of the job to run on; empty: all of them
  std::vector<std::string> all_nodes{};     // the same, but never empty within a job
  ProgramMpi program_mpi{};
  std::string dtsubmit{};  // path of our own program
  std::string run_directory{};
  unsigned attempt = 1;
  bool local = false;  // no scheduler: this machine only
  bool as_root = false;
  bool has_srun = true;  // on PATH
  bool has_ssh = true;   // on PATH, or rsh, or the site tells Open MPI how to reach nodes

  // True if a step of another role, or of an earlier attempt, may hold cores, which the new step
  // then has to share. A step that included a lost node, or whose slurmstepd was killed, holds its
  // cores until the job ends.
  [[nodiscard]] bool may_meet_steps() const {
    return !nodes.empty() || attempt > 1 || plan.shared.has_value();
  }
};

struct LauncherCommand {
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> environment{};  // in addition to the agent's
  std::string description{};    // for the log: "mpirun (Open MPI) 4.1.4"
  bool needs_sentinel = false;  // to learn of a preemption, see sentinel_command()
};

// One launcher. All functions but `ask` are pure.
struct LauncherType {
  // What the launcher reports about itself on this machine; the other functions get this text.
  // Errc::not_found if its program is missing. May start a process.
  Result<std::string> (*ask)();
  // Whether it can start ranks here, given the result of `ask`. Errc::invalid: it never can without
  // (or never with) a scheduler, so `auto` does not mention it. Errc::not_found: it has to be
  // installed, see the hint.
  Result<void> (*available)(const Result<std::string>& answer, bool local);
  Result<LauncherCommand> (*command)(const LaunchRequest& request,
                                     const std::string& answer,
                                     const Lookup& environment);
  const Source* identity;  // the variables that identify a rank; nullptr: see identify()
  Mpi mpi;                 // the MPI that it belongs to; unknown: to none
  // Why it cannot start the ranks of the request's program as one world, given its answer. nullptr:
  // it can, unless `mpi` differs from the program's.
  Result<void> (*suits)(const std::string& answer, const LaunchRequest& request);
  // Why it cannot start as many ranks on a node as planned. nullptr: it has no such limit.
  Result<void> (*has_room)(const plan::Plan& plan) = nullptr;
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

// Returns the plan's launcher, or for `automatic` the first that is available and suits the
// program. The launcher of the program's own MPI comes first, then mpirun before srun, since it
// starts MPI programs however Slurm was built. Calls `ask` no more often than needed. Errors are
// those of LauncherType::available(), and Errc::not_found if the requested launcher would make each
// rank a world of its own, or if no launcher is available.
[[nodiscard]] Result<LauncherChoice> choose_launcher(const LaunchRequest& request, const Ask& ask);

}  // namespace dts::launch
