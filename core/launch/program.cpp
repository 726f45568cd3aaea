// SPDX-License-Identifier: Apache-2.0
#include "core/launch/program.hpp"

#include "core/base/files.hpp"
#include "core/base/process.hpp"
#include "core/base/text.hpp"
#include "core/base/unique_fd.hpp"
#include "core/launch/stop_target.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace dts::launch {

std::vector<pid_t> children() {
  std::vector<pid_t> found;
  const auto text = read_file(fmt::format("/proc/self/task/{}/children", ::getpid()));
  for (const std::string& word : split(text ? *text : "", ' '))
    if (const auto pid = parse_number(trim(word))) found.push_back(static_cast<pid_t>(*pid));
  return found;
}

namespace {

std::vector<pid_t> children_but(const std::vector<pid_t>& spared) {
  std::vector<pid_t> found = children();
  std::erase_if(found, [&](pid_t pid) {
    return std::find(spared.begin(), spared.end(), pid) != spared.end();
  });
  return found;
}

}  // namespace

bool signal_children(int number, const std::vector<pid_t>& spared) {
  bool any = false;
  for (const pid_t pid : children_but(spared)) any = ::kill(pid, number) == 0 || any;
  return any;
}

void kill_children(const std::vector<pid_t>& spared) {
  // Each round kills one generation: what a killed process leaves becomes our child in its turn.
  for (int round = 0; round < 100; ++round) {
    const std::vector<pid_t> left = children_but(spared);
    if (left.empty()) return;
    for (const pid_t pid : left) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
  }
}

Result<void> Program::start(const std::vector<std::string>& argv,
                            const std::vector<std::pair<std::string, std::string>>& environment,
                            const Log& log) {
  UniqueFd file(::open(log.path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  // Not not_found, which is the program's.
  if (!file.valid())
    return fail(Errc::io, fmt::format("cannot open {}: {}", log.path, std::strerror(errno)));
  if (log.timestamps) {
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno("cannot make a pipe");
    pump_ = std::make_unique<LogPump>(UniqueFd(ends[0]), std::exchange(file, UniqueFd(ends[1])));
  }
  Command command;
  command.argv = argv;
  command.env = environment_with(environment);
  command.stdout_fd = file.get();
  command.stderr_fd = file.get();
  command.own_group = true;
  command.parent_death_signal = SIGKILL;
  DTS_ASSIGN(pid_, start_process(command));
  group_ = pid_;
  is_wrapper_ = is_wrapper(pid_);
  return {};
}

void Program::look() {
  if (pid_ > 0 && pid_ == group_) is_wrapper_ = is_wrapper(pid_);
}

void Program::signal(int number) {
  if (pid_ <= 0) return;
  look();
  expect_stop(number);
  for (const pid_t target : stop_targets(pid_, number)) ::kill(target, number);
}

void Program::kill() {
  if (pid_ > 0) ::kill(-group_, SIGKILL);
}

// The wrapper died of a stop signal; who handles that is its program, and goes on as ours.
bool Program::adopt_heir(int code) {
  if (!is_wrapper_ || stop_signal_ == 0 || code != 128 + stop_signal_) return false;
  for (const pid_t orphan : children())
    if (::getpgid(orphan) == group_ && handles(orphan, stop_signal_)) {
      pid_ = orphan;
      is_wrapper_ = false;
      return true;
    }
  return false;
}

void Program::bury() {
  ::kill(-group_, SIGKILL);
  pid_ = 0;
  kill_children({});
  pump_.reset();  // its writers are gone: it has come to the end
}

std::optional<int> Program::reap() {
  std::optional<int> code;
  int status = 0;
  for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;)
    if (pid == pid_) code = exit_code_of_wait_status(status);
  if (!code || adopt_heir(*code)) return std::nullopt;
  bury();
  return code;
}

}  // namespace dts::launch
