// SPDX-License-Identifier: Apache-2.0
// Shows ranks' logs while an attempt runs, on its own thread: an output that nobody reads must not
// keep the agent from handling signals and ranks.
#pragma once

#include "core/run/directory/rank_logs.hpp"
#include "core/run/directory/run_directory.hpp"

#include <thread>

namespace dts::launch {

class LiveOutput {
 public:
  // Checks ten times a second. Create it after the process has blocked its signals.
  LiveOutput(run::RankLogs logs, int fd);
  LiveOutput(const LiveOutput&) = delete;
  LiveOutput& operator=(const LiveOutput&) = delete;
  ~LiveOutput();  // shows what is left first

 private:
  std::jthread thread_;
};

// Prints the last lines of a rank's log to standard error, for those who read the job's output and
// not every log.
void print_last_words(const run::RunDirectory& run, unsigned attempt, unsigned rank);

}  // namespace dts::launch
