// SPDX-License-Identifier: Apache-2.0
// Starts, signals and reaps the program of one rank, and cleans up after it. The caller must be a
// child subreaper (prctl(2)), so that orphans of the program become its children. Not thread-safe.
#pragma once

#include "core/base/os/limits.hpp"
#include "core/base/result.hpp"
#include "core/launch/program/log_pump.hpp"

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dts::launch {

class Program {
 public:
  struct Log {
    std::string path;
    bool timestamps = false;  // through a LogPump; otherwise the program itself writes to the file
  };

  struct Limits {
    std::vector<ResourceLimit> limits{};
    std::optional<unsigned> umask{};
  };

  // Runs `argv` in its own process group with `environment` on top of ours and both streams
  // appended to `log`. It is killed when we end (PR_SET_PDEATHSIG). exit_code_of_start()
  // distinguishes errors of the program itself from ours.
  [[nodiscard]] Result<void> start(
      const std::vector<std::string>& argv,
      const std::vector<std::pair<std::string, std::string>>& environment,
      const Log& log,
      const Limits& limits);

  [[nodiscard]] bool running() const { return pid_ > 0; }

  [[nodiscard]] pid_t pid() const { return pid_; }

  // Signals only the program itself, see stop_targets(). Its workers are its own responsibility:
  // many would die of a SIGTERM that their parent would have handled for them. If what got it in
  // place of a program that waited for it has ended, and the program goes on, it gets the signal
  // from poll() some seconds later. So does a program that has just removed its handler: it may
  // have saved, asked by its peers, and Python removes handlers when it ends.
  void signal(int number);

  // Call it every second while the program runs: only then can a wrapper be recognised.
  void poll();

  // Call it when a stop was requested, by us or by a sender that signals every process. If the
  // program is a wrapper that dies of the signal, reap() waits for the program that it ran, and
  // returns that program's exit code.
  void expect_stop(int number) { stop_signal_ = number; }

  // Sends SIGKILL to the whole process group.
  void kill();

  // Collects ended children. Returns the program's exit code (or 128 + signal) once it has ended;
  // by then everything it left behind has been killed and its log is complete. `others`: children
  // of the caller that do not belong to the program, which are neither collected nor killed.
  [[nodiscard]] std::optional<int> reap(const std::vector<pid_t>& others = {});

  // After exit code 0: a command that the program left running, and that was killed. Empty: none.
  [[nodiscard]] const std::string& left_running() const { return left_running_; }

 private:
  void kill_leftovers(const std::vector<pid_t>& others);
  [[nodiscard]] bool adopt_wrapped_program(int code);
  void signal_if_it_goes_on();
  void signal_later(std::vector<pid_t> asked);

  pid_t pid_ = 0;
  pid_t group_ = 0;
  bool is_wrapper_ = false;     // by its name
  std::vector<pid_t> wrapped_;  // see wrapped_children(), at the last poll
  std::string left_running_;
  int stop_signal_ = 0;        // the signal of the requested stop; 0: none yet
  std::uint64_t handled_ = 0;  // the signals for which it had handlers at the last poll
  bool is_due_later_ = false;  // the program gets the signal if it goes on
  std::vector<pid_t> asked_;   // got it in place of a program that is no wrapper by name
  std::chrono::steady_clock::time_point asked_lived_;  // when one of them was last seen
  std::unique_ptr<LogPump> pump_;
};

// Errc::invalid if an entry is not a valid limit, Errc::io if it may not be set here.
[[nodiscard]] Result<Program::Limits> program_limits(const std::vector<std::string>& limits,
                                                     const std::string& umask);

}  // namespace dts::launch
