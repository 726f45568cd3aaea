// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/check_follow.hpp"

#include "core/base/os/interruption.hpp"
#include "core/base/os/log.hpp"
#include "core/run/directory/log_follower.hpp"
#include "core/run/directory/run_directory.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <memory>

namespace dts::cli {
namespace {

constexpr int k_look_ms = 200;
constexpr std::string_view k_run_words = "run directory ";  // as `submit` prints it

// Copies the output of a command and of its rank 0, line by line, and finds the run directory in
// it.
class Progress {
 public:
  explicit Progress(int fd) : fd_(fd) {}

  // Waits a moment for more output; false once there will be none.
  bool poll() {
    pollfd waiting{fd_, POLLIN, 0};
    if (::poll(&waiting, 1, k_look_ms) > 0) {
      char buffer[4096];
      const ssize_t got = ::read(fd_, buffer, sizeof buffer);
      if (got == 0) return false;
      if (got > 0) take({buffer, static_cast<std::size_t>(got)});
    }
    follow_rank();
    return true;
  }

  [[nodiscard]] const std::string& run() const { return run_; }

  void shows_rank_log() { shows_rank_log_ = true; }

 private:
  void take(std::string_view text) {
    line_ += text;
    for (std::size_t end = line_.find('\n'); end != std::string::npos; end = line_.find('\n')) {
      const std::string line = line_.substr(0, end);
      line_.erase(0, end + 1);
      if (line.starts_with(k_run_words) && run_.empty()) run_ = line.substr(k_run_words.size());
      tell("{}\n", line);
    }
  }

  // Copies the phases that rank 0 of a submitted job reports.
  void follow_rank() {
    if (!shows_rank_log_ || run_.empty()) return;
    const run::RunDirectory run{run_};
    if (const unsigned attempt = run::latest_attempt(run); attempt != attempt_) {
      attempt_ = attempt;
      log_ = std::make_unique<run::LogFollower>(run.rank_log(attempt, 0), "check: ");
    }
    if (log_) (void)log_->copy_to(STDERR_FILENO);
  }

  int fd_;
  std::string line_;
  std::string run_;
  bool shows_rank_log_ = false;
  unsigned attempt_ = 0;
  std::unique_ptr<run::LogFollower> log_;
};

// Handles a signal to us: a job whose result nobody reads must not continue to measure.
tl::unexpected<Error> stopped(pid_t pid, const std::string& run, const Error& why) {
  ::kill(pid, SIGTERM);
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (!run.empty()) {
    Command cancel;
    cancel.argv = {program_path(), "cancel", run};
    if (const auto cancelled = run_process(std::move(cancel), std::chrono::seconds(60));
        cancelled && cancelled->exit_code == 0)
      tell("the check's job is cancelled\n");
  }
  return tl::unexpected<Error>(why);
}

}  // namespace

Result<Ended> run_followed(Command command, bool shows_rank_log, std::chrono::seconds limit) {
  Pipe pipe;
  if (!pipe.open()) return fail_errno("cannot make a pipe");
  if (command.stdout_fd < 0) command.stdout_fd = pipe.write_end.get();
  command.stderr_fd = pipe.write_end.get();
  DTS_ASSIGN(const pid_t pid, start_process(command));
  pipe.write_end = UniqueFd();
  Progress progress(pipe.read_end.get());
  if (shows_rank_log) progress.shows_rank_log();
  const auto until = std::chrono::steady_clock::now() + limit;
  while (progress.poll()) {
    if (const auto go_on = check_interruption(); !go_on)
      return stopped(pid, progress.run(), go_on.error());
    if (std::chrono::steady_clock::now() > until)
      return stopped(pid,
                     progress.run(),
                     {Errc::io,
                      fmt::format("the measurements have not ended within {} s", limit.count()),
                      ""});
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  DTS_TRY(check_interruption());
  return Ended{exit_code_of_wait_status(status), progress.run()};
}

}  // namespace dts::cli
