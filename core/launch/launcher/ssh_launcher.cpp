// SPDX-License-Identifier: Apache-2.0
#include "core/launch/launcher/ssh_launcher.hpp"

#include "core/base/files/files.hpp"
#include "core/base/os/environment.hpp"
#include "core/base/os/log.hpp"
#include "core/base/os/process.hpp"
#include "core/base/os/signals.hpp"
#include "core/base/os/wait.hpp"
#include "core/base/text/text.hpp"
#include "core/launch/job/assignment.hpp"
#include "core/launch/launcher/node_daemon.hpp"
#include "core/launch/launcher/node_order.hpp"
#include "core/launch/wire/channel.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <map>
#include <optional>

namespace dts::launch {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int k_own_failure = 255;  // ssh(1), EXIT STATUS

// A host, and our ssh process that is connected to it.
struct Link {
  std::string host;
  std::string order;  // the part that is not written yet
  pid_t pid = 0;      // 0: it has ended
  Pipe to_it;
  Pipe from_it;      // both output streams of ssh
  std::string part;  // an incomplete line
  std::string last;  // the last complete line
  bool up = false;
};

std::string describe_end(const Link& link, int code) {
  const std::string words = link.last.empty() ? "without a message" : link.last;
  if (code == k_own_failure && link.up)
    return fmt::format("{}: the connection was lost: {}", link.host, words);
  if (code == k_own_failure) return fmt::format("{}: {}", link.host, words);
  if (link.up) return fmt::format("{}: its ranks ended with code {}: {}", link.host, code, words);
  if (code == 0)
    return fmt::format(
        "{}: no ranks, although the login succeeded ({}); does a start-up file of the "
        "shell, such as ~/.bashrc, exit?",
        link.host,
        words);
  return fmt::format("{}: no ranks, exit code {}: {}", link.host, code, words);
}

class SshLauncher {
 public:
  SshLauncher(ChannelFile channel, UniqueFd signals)
      : channel_(std::move(channel)), signals_(std::move(signals)) {}

  Result<void> start(const plan::Plan& plan, const NodeOrder& order);
  int run();

 private:
  void write_order(Link& link);
  void read_words(Link& link);
  void on_line(Link& link, const std::string& line);
  void on_children();
  void on_end(Link& link, int code);
  void tell(const FromRank& message);

  ChannelFile channel_;
  UniqueFd signals_;
  std::vector<Link> links_;
  std::map<std::string, std::string> host_of_;  // by the text that identifies a machine
  int code_ = 0;
};

Result<void> SshLauncher::start(const plan::Plan& plan, const NodeOrder& order) {
  Link& link = links_.emplace_back();
  link.host = order.node;
  link.order = to_bytes(order);
  if (!link.to_it.open() || !link.from_it.open()) return fail_errno("cannot make a pipe");
  Command command;
  command.argv = ssh_command(plan.ssh, link.host, {program_path(), "node"});
  command.stdin_fd = link.to_it.read_end.get();
  command.stdout_fd = command.stderr_fd = link.from_it.write_end.get();
  command.parent_death_signal = SIGKILL;
  DTS_ASSIGN(link.pid, start_process(command));
  link.to_it.read_end.reset();
  link.from_it.write_end.reset();
  ::fcntl(link.to_it.write_end.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(link.from_it.read_end.get(), F_SETFL, O_NONBLOCK);
  return {};
}

void SshLauncher::tell(const FromRank& message) {
  if (const auto told = tell_agent(channel_, message); !told) log("{}", told.error().message);
}

void SshLauncher::write_order(Link& link) {
  const ssize_t n = ::write(link.to_it.write_end.get(), link.order.data(), link.order.size());
  if (n > 0) link.order.erase(0, static_cast<std::size_t>(n));
  // A host that does not read its order ends soon, and reports why.
  if (n < 0 && errno != EAGAIN && errno != EINTR) link.order.clear();
}

void SshLauncher::on_line(Link& link, const std::string& line) {
  if (line.rfind(k_node_up, 0) == 0) {
    link.up = true;
    const std::string machine = line.substr(k_node_up.size());
    const auto [other, is_new] = host_of_.emplace(machine, link.host);
    if (!is_new)
      tell(Refused{channel_.token,
                   link.host,
                   fmt::format("it is the same machine as {}, whose cores and GPUs are already "
                               "assigned; name it once: {}:N",
                               other->second,
                               other->second)});
    return;
  }
  const bool failed = line.rfind(k_node_failed, 0) == 0;
  const std::string words(trim(failed ? line.substr(k_node_failed.size()) : line));
  if (words.empty()) return;
  link.last = words;
  log("{}: {}", link.host, words);
}

void SshLauncher::read_words(Link& link) {
  constexpr std::size_t k_longest = 4096;
  char block[65536];
  const ssize_t n = ::read(link.from_it.read_end.get(), block, sizeof block);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) return link.from_it.read_end.reset();
  link.part.append(block, static_cast<std::size_t>(n));
  std::size_t begin = 0;
  for (std::size_t end; (end = link.part.find('\n', begin)) != std::string::npos; begin = end + 1)
    on_line(link, link.part.substr(begin, end - begin));
  link.part.erase(0, begin);
  if (link.part.size() > k_longest) on_line(link, std::exchange(link.part, {}));
}

void SshLauncher::on_end(Link& link, int code) {
  // Its last output is in the pipe. A child that it left behind may hold the pipe open, so do not
  // wait for end of file.
  while (link.from_it.read_end.valid()) {
    if (!wait_readable(link.from_it.read_end.get(), Clock::now())) break;
    read_words(link);
  }
  if (!link.part.empty()) on_line(link, std::exchange(link.part, {}));
  link.from_it.read_end.reset();
  link.to_it.write_end.reset();
  if (code == 0 && link.up) return;
  const std::string why = describe_end(link, code);
  log("{}", why);
  if (code_ == 0) tell(NotLaunched{channel_.token, why});
  if (code_ == 0) code_ = code == 0 ? k_own_failure : code;
}

void SshLauncher::on_children() {
  while (read_signal(signals_.get())) {
  }
  int status = 0;
  for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;)
    for (Link& link : links_)
      if (link.pid == pid) {
        link.pid = 0;
        on_end(link, exit_code_of_wait_status(status));
      }
}

int SshLauncher::run() {
  const auto runs = [](const Link& link) { return link.pid > 0; };
  while (std::any_of(links_.begin(), links_.end(), runs)) {
    std::vector<pollfd> fds{{signals_.get(), POLLIN, 0}};
    for (const Link& link : links_) {
      fds.push_back({link.from_it.read_end.get(), POLLIN, 0});
      fds.push_back({link.order.empty() ? -1 : link.to_it.write_end.get(), POLLOUT, 0});
    }
    if (!wait_for_any(fds, Clock::time_point::max())) break;
    for (std::size_t i = 0; i < links_.size(); ++i) {
      if (fds[2 * i + 1].revents != 0) read_words(links_[i]);
      if (fds[2 * i + 2].revents != 0) write_order(links_[i]);
    }
    if (fds[0].revents != 0) on_children();
  }
  return code_;
}

Result<std::string> current_folder() {
  char path[PATH_MAX];
  if (::getcwd(path, sizeof path) == nullptr)
    return fail_errno("cannot determine the current folder");
  return std::string(path);
}

// The environment that is sent to the ranks' machines.
std::vector<std::string> travelling_environment() {
  std::vector<std::string> environment = environment_entries();
  std::erase_if(environment,
                [](const std::string& entry) { return is_machine_variable(variable_name(entry)); });
  return environment;
}

}  // namespace

std::vector<std::string> with_ssh_options(std::vector<std::string> ssh) {
  ssh.insert(ssh.end(), {"-T", "-x"});
  for (const char* option : {"BatchMode=yes",
                             "ConnectTimeout=10",
                             "ServerAliveInterval=15",
                             "ServerAliveCountMax=4",
                             // A connection master that is kept for later connections would be
                             // killed together with us.
                             "ControlMaster=no",
                             "ClearAllForwardings=yes",
                             "RemoteCommand=none"})
    ssh.insert(ssh.end(), {"-o", option});
  return ssh;
}

std::vector<std::string> ssh_command(const std::vector<std::string>& ssh,
                                     const std::string& host,
                                     const std::vector<std::string>& words) {
  std::vector<std::string> argv = with_ssh_options(ssh);
  std::string line = "exec";
  for (const std::string& word : words) line += " " + shell_quote(word);
  argv.insert(argv.end(), {"--", host, line});
  return argv;
}

Result<int> run_ssh_launcher(const std::string& run_directory, unsigned attempt) {
  DTS_ASSIGN(UniqueFd signals, take_signals({SIGCHLD}));
  DTS_ASSIGN(const plan::Plan plan, read_plan({run_directory}));
  DTS_ASSIGN(ChannelFile channel, read_channel(run_directory, attempt));
  DTS_ASSIGN(const std::string folder, current_folder());
  const std::vector<std::string> environment = travelling_environment();
  SshLauncher launcher(std::move(channel), std::move(signals));
  for (NodeOrder& order : node_orders(plan)) {
    order.run_directory = run_directory;
    order.attempt = attempt;
    order.folder = folder;
    order.environment = environment;
    DTS_TRY(launcher.start(plan, order));
  }
  return launcher.run();
}

}  // namespace dts::launch
