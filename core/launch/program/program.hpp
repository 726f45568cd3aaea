// SPDX-License-Identifier: Apache-2.0
// One rank's program: started, signalled, reaped, and cleaned up after. The caller must be a child
// subreaper (prctl(2)), so that what the program leaves behind becomes its child. Not thread-safe.
#pragma once

#include "core/base/result.hpp"
#include "core/launch/program/log_pump.hpp"

#include <sys/types.h>

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
    bool timestamps = false;  // see LogPump; otherwise the program itself writes to the file
  };

  // Runs `argv` in its own process group with `environment` on top of ours and both streams
  // appended to `log`. It dies with us (PR_SET_PDEATHSIG). Errors of the program itself are those
  // that exit_code_of_start() knows.
  [[nodiscard]] Result<void> start(
      const std::vector<std::string>& argv,
      const std::vector<std::pair<std::string, std::string>>& environment,
      const Log& log);

  [[nodiscard]] bool running() const { return pid_ > 0; }

  [[nodiscard]] pid_t pid() const { return pid_; }

  // To the program itself only, see stop_targets(): its workers are its own affair, and many die of
  // a SIGTERM that their parent would have handled for them.
  void signal(int number);

  // To be called every second while it runs: whether it is a wrapper can be seen only as long as it
  // lives.
  void look();

  // A stop was asked for, by us or by whoever signals everything in sight: if the program is a
  // wrapper that dies of that, the program that it ran is waited for, and its exit code is ours.
  void expect_stop(int number) { stop_signal_ = number; }

  // SIGKILL to its whole process group.
  void kill();

  // Collects ended children. The program's exit code (or 128 + signal) once it has ended; then
  // everything it left behind has been killed and its log is complete.
  [[nodiscard]] std::optional<int> reap();

 private:
  void bury();
  [[nodiscard]] bool adopt_heir(int code);

  pid_t pid_ = 0;
  pid_t group_ = 0;
  bool is_wrapper_ = false;
  int stop_signal_ = 0;  // that was asked for; 0: none yet
  std::unique_ptr<LogPump> pump_;
};

}  // namespace dts::launch
