// SPDX-License-Identifier: Apache-2.0
#include "core/base/os/process.hpp"

#include "core/base/os/environment.hpp"
#include "core/base/os/program_file.hpp"
#include "core/base/os/wait.hpp"
#include "core/base/text/text.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <thread>

namespace dts {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto k_kill_limit = 5s;  // a killed process exits within milliseconds, or hangs

void reset_signals(const std::vector<int>& blocked) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : blocked) sigaddset(&set, signal);
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  sigprocmask(SIG_SETMASK, &set, nullptr);
}

bool redirect(int from, int to) {
  if (from < 0 || from == to) return true;
  return ::dup2(from, to) >= 0;
}

// Runs in the child. Only returns on failure, with errno set.
void become(
    const Command& command, const char* file, char* const* argv, char* const* env, pid_t parent) {
  reset_signals(command.blocked_signals);
  if (command.own_group && ::setpgid(0, 0) != 0) return;
  if (command.parent_death_signal) {
    ::prctl(PR_SET_PDEATHSIG, *command.parent_death_signal);
    if (::getppid() != parent) ::_exit(128 + *command.parent_death_signal);  // died before prctl
  }
  if (command.unshare_flags != 0 && ::unshare(static_cast<int>(command.unshare_flags)) != 0) return;
  const int null = command.stdin_fd < 0 ? ::open("/dev/null", O_RDONLY) : command.stdin_fd;
  if (!redirect(null, 0) || !redirect(command.stdout_fd, 1) || !redirect(command.stderr_fd, 2))
    return;
  if (!command.folder.empty() && ::chdir(command.folder.c_str()) != 0) return;
  if (command.in_child && command.in_child() != 0) return;
  ::execve(file, argv, env);
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> result;
  result.reserve(words.size() + 1);
  for (const std::string& word : words) result.push_back(const_cast<char*>(word.c_str()));
  result.push_back(nullptr);
  return result;
}

// The wait status of one of our children; nullopt if it has not ended by `deadline`. Polls, because
// pidfd_open(2) requires Linux 5.3.
std::optional<int> wait_until(pid_t pid, Clock::time_point deadline) {
  for (std::chrono::microseconds pause = 50us;;
       pause = std::min<decltype(pause)>(2 * pause, 20ms)) {
    int status = 0;
    const pid_t ended = ::waitpid(pid, &status, WNOHANG);
    if (ended == pid || (ended < 0 && errno != EINTR)) return status;
    if (Clock::now() >= deadline) return std::nullopt;
    std::this_thread::sleep_for(pause);
  }
}

// The error of execve(2), or of a step before it in the child.
tl::unexpected<Error> start_failure(const std::string& file, int number) {
  if (number == ENOEXEC)
    return fail(Errc::invalid,
                "`" + file + "` is neither a program for this machine nor a script",
                "a script begins with #! and the path of its interpreter");
  if (number == EACCES)
    return fail(Errc::invalid, "`" + file + "` may not be executed: " + std::strerror(number));
  errno = number;
  return fail_errno("cannot start " + file);
}

// Appends the available data; false at the end of the stream.
bool drain(int fd, std::string& into) {
  char block[65536];
  const ssize_t n = ::read(fd, block, sizeof block);
  if (n > 0) into.append(block, static_cast<std::size_t>(n));
  return n > 0 || (n < 0 && errno == EINTR);
}

// Reads both streams to their ends; false if `deadline` comes first.
bool drain_until(Clock::time_point deadline, int out, int err, Output& output) {
  pollfd fds[2] = {{out, POLLIN, 0}, {err, POLLIN, 0}};
  while (fds[0].fd >= 0 || fds[1].fd >= 0) {
    if (Clock::now() >= deadline) return false;
    if (!wait_for_any(fds, deadline)) return true;
    if (fds[0].revents != 0 && !drain(fds[0].fd, output.out)) fds[0].fd = -1;
    if (fds[1].revents != 0 && !drain(fds[1].fd, output.err)) fds[1].fd = -1;
  }
  return true;
}

// A user's processes may reach their limit (EAGAIN) for a moment only.
pid_t fork_patiently() {
  constexpr std::chrono::milliseconds k_pause{100};
  for (int more = 20;; --more) {
    const pid_t pid = ::fork();
    if (pid >= 0 || errno != EAGAIN || more == 0) return pid;
    std::this_thread::sleep_for(k_pause);
  }
}

}  // namespace

bool Pipe::open() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return false;
  read_end.reset(fds[0]);
  write_end.reset(fds[1]);
  return true;
}

std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& additions) {
  std::set<std::string, std::less<>> replaced;
  for (const auto& [name, value] : additions) replaced.insert(name);
  std::vector<std::string> environment = environment_entries();
  std::erase_if(environment,
                [&](const std::string& entry) { return replaced.contains(variable_name(entry)); });
  for (const auto& [name, value] : additions) environment.push_back(name + "=" + value);
  return environment;
}

Result<pid_t> start_process(const Command& command) {
  DTS_ASSIGN(const std::string file, resolve_program(command.argv.at(0)));
  std::vector<char*> argv = pointers(command.argv);
  std::vector<char*> env_storage;
  char* const* env = environ;
  if (command.env) {
    env_storage = pointers(*command.env);
    env = env_storage.data();
  }
  Pipe report;  // closed by exec; carries errno if something before it failed
  if (!report.open()) return fail_errno("cannot make a pipe");
  const pid_t parent = ::getpid();
  const pid_t pid = fork_patiently();
  if (pid < 0) return fail_errno("cannot start " + file);
  if (pid == 0) {
    become(command, file.c_str(), argv.data(), env, parent);
    const int number = errno;
    if (::write(report.write_end.get(), &number, sizeof number) < 0) ::_exit(126);
    ::_exit(127);
  }
  report.write_end.reset();
  int number = 0;
  ssize_t n;
  do n = ::read(report.read_end.get(), &number, sizeof number);
  while (n < 0 && errno == EINTR);
  if (n == static_cast<ssize_t>(sizeof number)) {
    ::waitpid(pid, nullptr, 0);
    return start_failure(file, number);
  }
  return pid;
}

int exit_code_of_wait_status(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

Result<Output> run_process(Command command, std::chrono::milliseconds limit) {
  Pipe out, err;
  if (!out.open() || !err.open()) return fail_errno("cannot make a pipe");
  command.stdout_fd = out.write_end.get();
  command.stderr_fd = err.write_end.get();
  command.own_group = true;
  DTS_ASSIGN(const pid_t pid, start_process(command));
  out.write_end.reset();
  err.write_end.reset();
  const auto deadline = Clock::now() + limit;
  Output output;
  std::optional<int> status;
  if (drain_until(deadline, out.read_end.get(), err.read_end.get(), output))
    status = wait_until(pid, deadline);
  if (!status) {
    ::kill(-pid, SIGKILL);
    const std::string words = "`" + join(command.argv, " ") + "` timed out";
    if (wait_until(pid, Clock::now() + k_kill_limit)) return fail(Errc::timed_out, words);
    return fail(
        Errc::timed_out,
        words + ", and SIGKILL does not end it: process " + std::to_string(pid) +
            " hangs in the kernel",
        "a file system that does not answer? `ps -o stat,wchan -p " + std::to_string(pid) + "`");
  }
  output.exit_code = exit_code_of_wait_status(*status);
  if (WIFSIGNALED(*status)) output.signal = WTERMSIG(*status);
  return output;
}

}  // namespace dts
