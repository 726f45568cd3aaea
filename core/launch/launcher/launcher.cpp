// SPDX-License-Identifier: Apache-2.0
#include "core/launch/launcher/launcher.hpp"

#include "core/base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::launch {

const LauncherType& type_of(spec::Launcher launcher) {
  switch (launcher) {
#define DTS_LAUNCHER(name, ...) \
  case spec::Launcher::name:    \
    return k_##name##_launcher;
#include "core/spec/launchers.inc"
#undef DTS_LAUNCHER
    case spec::Launcher::automatic:
      break;
  }
  return k_mpirun_launcher;
}

namespace {

Result<void> check_mpi(spec::Launcher launcher,
                       const std::string& answer,
                       const LaunchRequest& request) {
  const LauncherType& type = type_of(launcher);
  const ProgramMpi& program = request.program_mpi;
  if (program.mpi == Mpi::unknown || request.plan.world_size == 1) return {};
  if (type.suits != nullptr) return type.suits(answer, request);
  if (type.mpi == Mpi::unknown || type.mpi == program.mpi) return {};
  return fail(Errc::not_found,
              fmt::format("{} is {}'s, but the program is linked with {} of {}: each rank would be "
                          "a world of one",
                          spec::to_string(launcher),
                          to_string(type.mpi),
                          program.library,
                          to_string(program.mpi)),
              fmt::format("use --launcher {}, or link the program with {}",
                          program.mpi == Mpi::mpich ? "mpiexec" : "mpirun",
                          to_string(type.mpi)));
}

// The launchers of MPIs start their daemons on other nodes by srun, and their own messages without
// it are about ssh, which Open MPI's falls back on.
Result<void> check_srun(spec::Launcher launcher, const LaunchRequest& request) {
  const Mpi mpi = type_of(launcher).mpi;
  const bool needs_it = mpi != Mpi::unknown && !request.local && request.plan.nodes > 1;
  const bool may_do_without = mpi == Mpi::open_mpi && request.has_ssh;
  if (!needs_it || request.has_srun || may_do_without) return {};
  return fail(Errc::not_found,
              fmt::format("no srun on the job's PATH, by which {} reaches the other nodes",
                          spec::to_string(launcher)),
              "the job has the PATH of the shell that submitted it, and that of a cron job or of "
              "`ssh HOST COMMAND` may be short: submit with the PATH of a login shell, load the "
              "site's module of Slurm before, or choose another --launcher");
}

// The launcher's answer if it is available; otherwise the error says why not.
Result<std::string> seen(spec::Launcher launcher, const LaunchRequest& request, const Ask& ask) {
  Result<std::string> answer = ask(launcher);
  const LauncherType& type = type_of(launcher);
  DTS_TRY(type.available(answer, request.local));
  DTS_TRY(check_srun(launcher, request));
  if (type.has_room != nullptr) DTS_TRY(type.has_room(request.plan));
  DTS_TRY(check_mpi(launcher, *answer, request));
  return answer;
}

// Launchers in the order in which `automatic` tries them.
std::vector<spec::Launcher> candidates(const ProgramMpi& program) {
  std::vector<spec::Launcher> all;
  for (const spec::LauncherRow& row : spec::built_in_launchers())
    if (row.hosts != nullptr) all.push_back(row.launcher);  // --hosts alone selects the others
  std::stable_partition(all.begin(), all.end(), [&](spec::Launcher launcher) {
    return program.mpi != Mpi::unknown && type_of(launcher).mpi == program.mpi;
  });
  return all;
}

std::string why_first(const ProgramMpi& program) {
  return program.mpi == Mpi::unknown ? "it is on this node"
                                     : "the program is linked with " + program.library;
}

}  // namespace

Result<LauncherChoice> choose_launcher(const LaunchRequest& request, const Ask& ask) {
  const spec::Launcher asked = request.plan.launcher;
  if (asked != spec::Launcher::automatic) {
    DTS_ASSIGN(std::string answer, seen(asked, request, ask));
    return LauncherChoice{asked, std::move(answer), "as requested"};
  }
  std::vector<std::string> missing;
  std::string hint;
  for (const spec::Launcher launcher : candidates(request.program_mpi)) {
    auto answer = seen(launcher, request, ask);
    if (answer)
      return LauncherChoice{
          launcher,
          *std::move(answer),
          "auto: " + (missing.empty() ? why_first(request.program_mpi) : join(missing, ", and "))};
    if (answer.error().code == Errc::invalid) continue;
    if (missing.empty()) hint = answer.error().hint;
    missing.push_back(answer.error().message);
  }
  return fail(Errc::not_found, join(missing, ", and "), hint);
}

}  // namespace dts::launch
