// SPDX-License-Identifier: Apache-2.0
#include "core/launch/program/program.hpp"

#include "core/base/files/files.hpp"
#include "core/base/files/unique_fd.hpp"
#include "core/base/os/own_children.hpp"
#include "core/base/os/process.hpp"
#include "core/base/os/process_table.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/utf8.hpp"
#include "core/launch/program/stop_target.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

namespace dts::launch {
namespace {

// Helpers that follow their program when it ends need less.
constexpr std::chrono::milliseconds k_to_follow{1000};
constexpr std::size_t k_longest_left = 80;

// The command of an orphan that is still there after a short time; empty: there is none.
std::string remaining_command(const std::vector<pid_t>& others) {
  for (const auto until = std::chrono::steady_clock::now() + k_to_follow;;) {
    reap_children(others);
    const std::vector<pid_t> left = own_children(others);
    if (left.empty()) return "";
    if (std::chrono::steady_clock::now() >= until)
      return printable(join(command_of(left.front()), " "), k_longest_left);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

bool contains(const std::vector<pid_t>& all, pid_t one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

}  // namespace

Result<void> Program::start(const std::vector<std::string>& argv,
                            const std::vector<std::pair<std::string, std::string>>& environment,
                            const Log& log,
                            const Limits& limits) {
  UniqueFd file(::open(log.path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  // Not Errc::not_found, which means a missing program.
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
  command.in_child = [&limits] {
    if (limits.umask) ::umask(*limits.umask);
    for (const ResourceLimit& limit : limits.limits)
      if (const int error = set_limit(limit); error != 0) return error;
    return 0;
  };
  DTS_ASSIGN(pid_, start_process(command));
  group_ = pid_;
  poll();
  return {};
}

void Program::poll() {
  if (pid_ <= 0 || pid_ != group_) return;
  is_wrapper_ = is_named_wrapper(pid_);
  wrapped_ = wrapped_children(pid_);
  handled_ = handled_signals(pid_);
  if (is_due_later_) signal_if_it_goes_on();
}

void Program::signal_later(std::vector<pid_t> asked) {
  is_due_later_ = true;
  asked_ = std::move(asked);
  asked_lived_ = std::chrono::steady_clock::now();
}

// As a trainer does that was asked to save while it waited for a helper.
void Program::signal_if_it_goes_on() {
  constexpr std::chrono::seconds k_left_to_end{5};
  const auto now = std::chrono::steady_clock::now();
  const bool is_any_left = std::any_of(
      asked_.begin(), asked_.end(), [](pid_t pid) { return process_info(pid).has_value(); });
  if (is_any_left || (!asked_.empty() && !wrapped_.empty())) asked_lived_ = now;
  if (now - asked_lived_ < k_left_to_end) return;
  is_due_later_ = false;
  ::kill(pid_, stop_signal_);
}

void Program::signal(int number) {
  if (pid_ <= 0) return;
  const bool had_handler = has_signal(handled_, number);
  poll();
  expect_stop(number);
  is_due_later_ = false;
  const std::vector<pid_t> targets = stop_targets(pid_, number);
  const bool is_itself = contains(targets, pid_);
  if (is_itself && had_handler && !handles(pid_, number)) return signal_later({});
  for (const pid_t target : targets) ::kill(target, number);
  if (!is_itself && !handles(pid_, number) && !is_named_wrapper(pid_)) signal_later(targets);
}

void Program::kill() {
  if (pid_ > 0) ::kill(-group_, SIGKILL);
}

// The wrapper died of a stop signal: continue with the process below it that handles the signal, as
// if it were the program.
bool Program::adopt_wrapped_program(int code) {
  if (stop_signal_ == 0 || code != 128 + stop_signal_) return false;
  for (const pid_t orphan : own_children())
    if ((is_wrapper_ || contains(wrapped_, orphan)) && ::getpgid(orphan) == group_ &&
        handles(orphan, stop_signal_)) {
      pid_ = orphan;
      is_wrapper_ = false;
      wrapped_.clear();
      handled_ = 0;
      is_due_later_ = false;
      return true;
    }
  return false;
}

void Program::kill_leftovers(const std::vector<pid_t>& others) {
  ::kill(-group_, SIGKILL);
  pid_ = 0;
  kill_children(others);
  pump_.reset();  // all its writers are gone
}

std::optional<int> Program::reap(const std::vector<pid_t>& others) {
  std::optional<int> code;
  int status = 0;
  if (pid_ > 0 && ::waitpid(pid_, &status, WNOHANG) == pid_)
    code = exit_code_of_wait_status(status);
  std::vector<pid_t> spared = others;
  if (!code) spared.push_back(pid_);
  reap_children(spared);
  if (!code || adopt_wrapped_program(*code)) return std::nullopt;
  if (*code == 0) left_running_ = remaining_command(others);
  kill_leftovers(others);
  return code;
}

Result<Program::Limits> program_limits(const std::vector<std::string>& limits,
                                       const std::string& umask) {
  Program::Limits all;
  for (const std::string& text : limits) {
    DTS_ASSIGN(ResourceLimit limit, parse_resource_limit(text));
    DTS_TRY(may_set(limit));
    all.limits.push_back(std::move(limit));
  }
  all.umask = parse_umask(umask);
  return all;
}

}  // namespace dts::launch
