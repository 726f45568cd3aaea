// SPDX-License-Identifier: Apache-2.0
// The launcher for --hosts, `dtsubmit ssh`; ssh_launcher.cpp does the work.
#include "core/launch/launcher/launcher.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dts::launch {
namespace {

Result<std::string> ask_ssh() {
  return std::string();  // ssh shows whether a host is reachable when it connects
}

Result<void> ssh_available(const Result<std::string>&, bool) {
  return {};
}

Result<LauncherCommand> start_by_ssh(const LaunchRequest& request,
                                     const std::string&,
                                     const Lookup&) {
  LauncherCommand command;
  command.argv = {request.dtsubmit,
                  "ssh",
                  "--run",
                  request.run_directory,
                  "--attempt",
                  std::to_string(request.attempt)};
  command.description =
      fmt::format("{} to {} hosts", fmt::join(request.plan.ssh, " "), request.plan.hosts.size());
  return command;
}

}  // namespace

const LauncherType k_ssh_launcher{
    ask_ssh, ssh_available, start_by_ssh, nullptr, Mpi::unknown, nullptr};

}  // namespace dts::launch
