// SPDX-License-Identifier: Apache-2.0
#include "core/launch/step_daemon.hpp"

#include "core/base/log.hpp"
#include "core/base/process.hpp"
#include "core/base/text.hpp"
#include "core/launch/channel.hpp"
#include "core/launch/identity.hpp"
#include "core/launch/net.hpp"
#include "core/launch/signals.hpp"

#include <poll.h>
#include <sys/wait.h>

#include <csignal>

namespace dts::launch {
namespace {

Result<void> tell_of(int signal) {
  const auto folder = getenv_lookup("DTSUBMIT_RUN_DIR");
  const auto attempt = parse_number(getenv_lookup("DTSUBMIT_ATTEMPT").value_or(""));
  if (!folder || !attempt)
    return fail(Errc::invalid, "DTSUBMIT_RUN_DIR and DTSUBMIT_ATTEMPT are not set");
  DTS_ASSIGN(const ChannelFile channel, read_channel(*folder, static_cast<unsigned>(*attempt)));
  return tell_agent(channel, Notice{channel.token, node_name(getenv_lookup, host_name()), signal});
}

void pass_on(int signal) {
  if (const auto told = tell_of(signal); !told)
    log("signal {} reached this step, but the agent was not told: {}",
        signal,
        told.error().message);
}

}  // namespace

Result<int> run_mpi_daemon(const std::vector<std::string>& argv) {
  DTS_ASSIGN(const UniqueFd signals,
             take_signals({SIGTERM, SIGUSR1, SIGUSR2, SIGINT, SIGHUP, SIGCONT, SIGCHLD}));
  Command command;
  command.argv = argv;
  command.blocked_signals = {SIGTERM};
  command.parent_death_signal = SIGKILL;
  DTS_ASSIGN(const pid_t daemon, start_process(command));
  pollfd waiting{signals.get(), POLLIN, 0};
  while (true) {
    ::poll(&waiting, 1, -1);
    const auto signal = read_signal(signals.get());
    if (!signal || *signal == SIGCONT) continue;
    if (*signal != SIGCHLD) {
      pass_on(*signal);
      continue;
    }
    int status = 0;
    if (::waitpid(daemon, &status, WNOHANG) == daemon) return exit_code_of_wait_status(status);
  }
}

Result<int> run_sentinel() {
  DTS_ASSIGN(const UniqueFd signals, take_signals({SIGTERM, SIGUSR1, SIGUSR2, SIGINT, SIGHUP}));
  pollfd waiting{signals.get(), POLLIN, 0};
  while (true) {
    ::poll(&waiting, 1, -1);
    if (const auto signal = read_signal(signals.get())) {
      pass_on(*signal);
      return 0;
    }
  }
}

}  // namespace dts::launch
