// SPDX-License-Identifier: Apache-2.0
// Shows ranks' logs while an attempt runs, on a thread of its own: an output that nobody reads must
// not keep the agent from its signals and ranks.
#pragma once

#include "core/run/directory/rank_logs.hpp"
#include "core/run/directory/run_directory.hpp"

#include <thread>

namespace dts::launch {

class LiveOutput {
 public:
  // Looks ten times a second. Start it after the process has blocked its signals.
  LiveOutput(run::RankLogs logs, int fd);
  LiveOutput(const LiveOutput&) = delete;
  LiveOutput& operator=(const LiveOutput&) = delete;
  ~LiveOutput();  // shows what is left first

 private:
  std::jthread thread_;
};

// The last lines of a rank's log on standard error: for whoever reads the job's output and not
// every log.
void print_last_words(const run::RunDirectory& run, unsigned attempt, unsigned rank);

}  // namespace dts::launch
