// SPDX-License-Identifier: Apache-2.0
// Starts and stops other programs. Nothing here goes through a shell.
#pragma once

#include "core/base/files/unique_fd.hpp"
#include "core/base/result.hpp"

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dts {

struct Pipe {
  UniqueFd read_end;
  UniqueFd write_end;

  [[nodiscard]] bool open();  // both ends close-on-exec; false: see errno
};

struct Command {
  std::vector<std::string> argv;                // argv[0] is looked up in PATH
  std::optional<std::vector<std::string>> env;  // "NAME=value" each; nullopt: ours
  std::string folder;                           // working directory; empty: ours
  int stdin_fd = -1;                            // -1: /dev/null
  int stdout_fd = -1;                           // -1: ours
  int stderr_fd = -1;                           // -1: ours
  bool own_group = false;  // in its own process group (so that kill(-pid) kills all of it)
  std::optional<int> parent_death_signal;  // prctl(2) PR_SET_PDEATHSIG
  std::vector<int> blocked_signals;  // stay blocked in the program, whatever handlers it installs
  unsigned unshare_flags = 0;        // CLONE_NEW* for unshare(2), before `in_child`
  std::function<int()>
      in_child;  // run right before exec; async-signal-safe; non-zero: the child exits
};

// Our environment as "NAME=value" entries, with `additions` in place of variables of the same name.
[[nodiscard]] std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& additions);

// Starts the program with the default action for all signals and all but blocked_signals unblocked.
// Errc::not_found if argv[0] or its interpreter does not exist, Errc::invalid if it cannot be
// executed. A failure of exec itself is reported here, and not by the child's exit code. Other
// errors are those of the machine.
[[nodiscard]] Result<pid_t> start_process(const Command& command);

// How a process ended: its exit code, or 128 + the signal (the shell's convention).
[[nodiscard]] int exit_code_of_wait_status(int status);

struct Output {
  int exit_code = 0;  // that of exit_code_of_wait_status
  int signal = 0;     // that ended it; 0: it exited, maybe with a code above 128
  std::string out;    // standard output
  std::string err;    // standard error
};

// Runs the program to its end. After `limit`, kills its whole process group and returns
// Errc::timed_out, at most 5 s later. A process that SIGKILL has not ended by then (it waits in the
// kernel, perhaps for a dead file server) is named in the error and left behind; its parent, or
// after our end init, reaps it.
[[nodiscard]] Result<Output> run_process(Command command, std::chrono::milliseconds limit);

}  // namespace dts
