// SPDX-License-Identifier: Apache-2.0
#include "core/launch/launcher/step_daemon.hpp"

#include "core/base/files/files.hpp"
#include "core/base/net/line_connection.hpp"
#include "core/base/net/net.hpp"
#include "core/base/os/environment.hpp"
#include "core/base/os/log.hpp"
#include "core/base/os/process.hpp"
#include "core/base/os/signals.hpp"
#include "core/base/os/wait.hpp"
#include "core/base/text/signal_name.hpp"
#include "core/base/text/text.hpp"
#include "core/launch/launcher/identity.hpp"
#include "core/launch/launcher/mpiexec.hpp"
#include "core/launch/launcher/revival/revival.hpp"
#include "core/launch/wire/channel.hpp"
#include "core/launch/wire/node_name.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <optional>

namespace dts::launch {
namespace {

using Clock = std::chrono::steady_clock;

// Time for ranks whose agent is gone, which save first; see rank.cpp.
constexpr std::chrono::seconds k_orphan_limit{30};

Result<ChannelFile> own_channel() {
  const auto folder = getenv_lookup("DTSUBMIT_RUN_DIR");
  const auto attempt = parse_number(getenv_lookup("DTSUBMIT_ATTEMPT").value_or(""));
  if (!folder || !attempt)
    return fail(Errc::invalid, "DTSUBMIT_RUN_DIR and DTSUBMIT_ATTEMPT are not set");
  return read_channel(*folder, static_cast<unsigned>(*attempt));
}

Result<void> tell_of(int signal) {
  DTS_ASSIGN(const ChannelFile channel, own_channel());
  return tell_agent(channel, Notice{channel.token, node_name(getenv_lookup, host_name()), signal});
}

// Reports `signal` to the agent; 0: this process is listening from now on.
void pass_on(int signal) {
  if (const auto told = tell_of(signal); !told)
    log("signal {} reached this step, but the agent could not be notified: {}",
        signal,
        told.error().message);
}

// When the daemon dies, its ranks lose their server and exit with a code that does not show why.
void report_daemon_death(const std::string& daemon, int signal) {
  const char* name = signal_name(signal);
  const std::string node = node_name(getenv_lookup, host_name());
  const std::string why =
      fmt::format("{} on {} was killed by {}",
                  daemon.substr(daemon.rfind('/') + 1),
                  node,
                  name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal));
  const auto told = own_channel().and_then([&why](const ChannelFile& channel) {
    return tell_agent(channel, NotLaunched{channel.token, why});
  });
  if (!told) log("{}, but the agent could not be notified: {}", why, told.error().message);
}

void begin(Revival& revival) {
  revival.begin(getenv_lookup("DTSUBMIT_RUN_DIR").value_or(""),
                getenv_lookup("DTSUBMIT_ATTEMPT").value_or(""));
}

// A connection that lasts as long as the agent does.
std::optional<LineConnection> attach() {
  const auto channel = own_channel();
  if (!channel) return std::nullopt;
  auto attached = attach_to_agent(*channel);
  if (!attached) {
    log("{}: this daemon will not notice the agent's end", attached.error().message);
    return std::nullopt;
  }
  return *std::move(attached);
}

}  // namespace

Result<int> run_mpi_daemon(const std::vector<std::string>& argv) {
  DTS_ASSIGN(const UniqueFd signals,
             take_signals({SIGTERM, SIGUSR1, SIGUSR2, SIGINT, SIGHUP, SIGCONT, SIGCHLD}));
  Command command;
  command.argv = argv;
  // These signals would end orted, and its ranks cannot finish without it.
  command.blocked_signals = {SIGTERM, SIGINT, SIGHUP};
  command.parent_death_signal = SIGKILL;
  DTS_ASSIGN(const pid_t daemon, start_process(command));
  Revival revival;
  // On a node that Slurm has lost, nothing ends the step: orted waits for an mpirun that is gone.
  std::optional<LineConnection> agent = attach();
  Clock::time_point limit = Clock::time_point::max();
  std::array<pollfd, 2> waiting{
      {{signals.get(), POLLIN, 0}, {agent ? agent->fd() : -1, POLLIN, 0}}};
  while (true) {
    if (!wait_for_any(waiting, limit)) return fail_errno("cannot wait for signals");
    if (Clock::now() >= limit) {
      ::kill(daemon, SIGKILL);
      limit = Clock::time_point::max();
    }
    if (waiting[1].revents != 0 && !agent->receive()) {
      log("the agent is gone: ending {} in {} s", argv.front(), k_orphan_limit.count());
      limit = Clock::now() + k_orphan_limit;
      begin(revival);
      waiting[1].fd = -1;
    }
    const auto signal = read_signal(signals.get());
    if (!signal || *signal == SIGCONT) continue;
    if (*signal != SIGCHLD) {
      pass_on(*signal);
      continue;
    }
    int status = 0;
    if (::waitpid(daemon, &status, WNOHANG) != daemon) continue;
    // Otherwise we killed it ourselves.
    if (WIFSIGNALED(status) && waiting[1].fd >= 0)
      report_daemon_death(argv.front(), WTERMSIG(status));
    return exit_code_of_wait_status(status);
  }
}

Result<int> become_srun(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = shielded_srun(arguments, program_path());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  return fail_errno("cannot start srun");
}

Result<int> run_sentinel() {
  DTS_ASSIGN(const UniqueFd signals, take_signals({SIGTERM, SIGUSR1, SIGUSR2, SIGINT, SIGHUP}));
  pass_on(0);
  std::optional<LineConnection> agent = attach();
  if (!agent) return 0;  // it has been killed meanwhile
  Revival revival;
  std::array<pollfd, 2> waiting{{{signals.get(), POLLIN, 0}, {agent->fd(), POLLIN, 0}}};
  while (wait_for_any(waiting, Clock::time_point::max())) {
    if (const auto signal = read_signal(signals.get())) pass_on(*signal);
    if (waiting[1].revents == 0 || agent->receive()) continue;
    begin(revival);
    break;
  }
  return 0;
}

}  // namespace dts::launch
