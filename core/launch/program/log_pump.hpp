// SPDX-License-Identifier: Apache-2.0
// Puts the time in front of each line of a log.
#pragma once

#include "core/base/files/unique_fd.hpp"

#include <chrono>
#include <string>
#include <string_view>
#include <thread>

namespace dts::launch {

// "2026-11-21T13:52:29.123Z ": RFC 3339, UTC, milliseconds, and a space.
[[nodiscard]] std::string line_time(std::chrono::system_clock::time_point time);

// Stamps text that arrives in pieces with the time at which each line began. Not thread-safe.
class LineStamper {
 public:
  // Appends `piece` to `out`, with `time` before each line that begins in it.
  void add(std::string_view piece, std::string_view time, std::string& out);

 private:
  bool in_line_ = false;
};

// Copies a pipe into a log and stamps its lines, on a thread of its own, because a file system that
// hangs must not keep the rank from handling signals. Both output streams of the program share one
// pipe and so keep their order. If the log is slow, the pipe fills and the program blocks, as it
// would on the file itself. Incomplete lines are written at once.
class LogPump {
 public:
  LogPump(UniqueFd pipe, UniqueFd log);
  LogPump(const LogPump&) = delete;
  LogPump& operator=(const LogPump&) = delete;
  // Waits for the end of the pipe, but at most 2 s, because another process may have inherited the
  // write end.
  ~LogPump();

 private:
  void run() const;

  UniqueFd pipe_;
  UniqueFd log_;
  UniqueFd give_up_;  // eventfd
  UniqueFd ended_;    // eventfd
  std::thread thread_;
};

}  // namespace dts::launch
