// SPDX-License-Identifier: Apache-2.0
#include "core/launch/launcher/node_daemon.hpp"

#include "core/base/files/files.hpp"
#include "core/base/net/net.hpp"
#include "core/base/os/environment.hpp"
#include "core/base/os/log.hpp"
#include "core/base/os/own_children.hpp"
#include "core/base/os/process.hpp"
#include "core/base/os/process_table.hpp"
#include "core/base/os/signals.hpp"
#include "core/base/os/wait.hpp"
#include "core/launch/launcher/node_order.hpp"
#include "core/launch/wire/channel.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>

namespace dts::launch {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::seconds;

// After the connection is lost: an agent that is alive ends its ranks itself. If it is gone, the
// ranks keep the time that a rank gives its program to save.
constexpr seconds k_agent_patience{5};
constexpr seconds k_save_patience{30};

// The same text for all names of one machine, whose cores must not be assigned twice.
std::string machine() {
  return fmt::format("{} {}", host_name(), boot_id());
}

Result<NodeOrder> receive_order() {
  std::string bytes;
  while (true) {
    char block[65536];
    const ssize_t n = ::read(STDIN_FILENO, block, sizeof block);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return fail(Errc::invalid, "the connection ended before the order was complete");
    bytes.append(block, static_cast<std::size_t>(n));
    DTS_ASSIGN(auto order, parse_node_order(bytes));
    if (order) return std::move(*order);
  }
}

std::vector<std::string> environment_of(const NodeOrder& order) {
  std::vector<std::string> environment = environment_entries();
  std::erase_if(environment, [](const std::string& entry) {
    return !is_machine_variable(variable_name(entry));
  });
  environment.insert(environment.end(), order.environment.begin(), order.environment.end());
  return environment;
}

Command rank_command(const NodeOrder& order, unsigned local_rank) {
  Command command;
  command.argv = {program_path(),
                  "rank",
                  "--run",
                  order.run_directory,
                  "--attempt",
                  std::to_string(order.attempt),
                  "--rank",
                  std::to_string(order.first_rank + local_rank),
                  "--world-size",
                  std::to_string(order.world_size),
                  "--local-rank",
                  std::to_string(local_rank),
                  "--node",
                  order.node,
                  "--"};
  command.argv.insert(command.argv.end(), order.command.begin(), order.command.end());
  command.env = environment_of(order);
  command.folder = order.folder;
  command.stdout_fd = STDERR_FILENO;
  command.parent_death_signal = SIGKILL;
  return command;
}

class Node {
 public:
  Node(const NodeOrder& order, ChannelFile channel, UniqueFd signals)
      : order_(order), channel_(std::move(channel)), signals_(std::move(signals)) {}

  Result<void> start();
  int run();

 private:
  void on_signals();
  void on_connection_lost();

  const NodeOrder& order_;
  ChannelFile channel_;
  UniqueFd signals_;
  std::vector<pid_t> ranks_;  // those still running
  int code_ = 0;
  bool connected_ = true;
  Clock::time_point kill_at_ = Clock::time_point::max();
};

Result<void> Node::start() {
  for (unsigned local_rank = 0; local_rank < order_.ranks; ++local_rank) {
    DTS_ASSIGN(const pid_t pid, start_process(rank_command(order_, local_rank)));
    ranks_.push_back(pid);
  }
  return {};
}

void Node::on_signals() {
  while (const auto signal = read_signal(signals_.get())) {
    if (*signal == SIGCONT) continue;
    if (*signal != SIGCHLD) {
      const auto told = tell_agent(channel_, Notice{channel_.token, order_.node, *signal});
      if (!told)
        log("signal {}, but the agent could not be notified: {}", *signal, told.error().message);
      continue;
    }
    int status = 0;
    for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;)
      if (std::erase(ranks_, pid) > 0 && code_ == 0) code_ = exit_code_of_wait_status(status);
  }
}

void Node::on_connection_lost() {
  connected_ = false;
  kill_at_ = Clock::now() + (agent_lives(channel_) ? k_agent_patience : k_save_patience);
}

int Node::run() {
  while (!ranks_.empty() && Clock::now() < kill_at_) {
    std::array<pollfd, 2> fds{
        {{signals_.get(), POLLIN, 0}, {connected_ ? STDIN_FILENO : -1, POLLIN, 0}}};
    if (!wait_for_any(fds, kill_at_)) break;
    if (fds[1].revents != 0) {
      char byte;
      if (::read(STDIN_FILENO, &byte, 1) <= 0) on_connection_lost();
    }
    if (fds[0].revents != 0) on_signals();
  }
  kill_children({});
  return ranks_.empty() ? code_ : 128 + SIGKILL;
}

Result<int> follow(const NodeOrder& order, UniqueFd signals) {
  DTS_ASSIGN(ChannelFile channel, read_channel(order.run_directory, order.attempt, k_channel_lag));
  if (::access(order.folder.c_str(), X_OK) != 0)
    return fail_errno("cannot work in " + order.folder);
  fmt::print("{}{}\n", k_node_up, machine());
  std::fflush(stdout);
  Node node(order, std::move(channel), std::move(signals));
  if (const auto started = node.start(); !started) {
    kill_children({});
    return tl::unexpected<Error>(started.error());
  }
  return node.run();
}

}  // namespace

Result<int> run_node() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  DTS_ASSIGN(UniqueFd signals,
             take_signals({SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT, SIGCHLD}));
  const auto order = receive_order();
  auto code = order ? follow(*order, std::move(signals)) : tl::unexpected<Error>(order.error());
  if (code) return code;
  fmt::print("{}{}\n", k_node_failed, code.error().message);
  std::fflush(stdout);
  return exit_code(code.error().code);
}

}  // namespace dts::launch
