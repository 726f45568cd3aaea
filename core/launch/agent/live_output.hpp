// SPDX-License-Identifier: Apache-2.0
// Shows the ranks' logs while an attempt runs. It has a thread of its own, because an output that
// no process reads must not keep the agent from handling signals and ranks.
#pragma once

#include "core/run/directory/rank_logs.hpp"
#include "core/run/directory/run_directory.hpp"
#include "core/run/ledger/decision.hpp"

#include <thread>

namespace dts::launch {

class LiveOutput {
 public:
  // Looks at the logs ten times a second. Create it after blocking the process's signals.
  LiveOutput(run::RankLogs logs, int fd);
  LiveOutput(const LiveOutput&) = delete;
  LiveOutput& operator=(const LiveOutput&) = delete;
  ~LiveOutput();  // first shows the rest of the logs

 private:
  std::jthread thread_;
};

// Prints the last words of an attempt (run::last_words()) to standard error, for users who read
// only the job's output, unless they are those of a rank in `shown`, which has been shown.
void print_last_words(const run::RunDirectory& run,
                      unsigned attempt,
                      const run::Outcome& outcome,
                      const run::RankSelection& shown);

}  // namespace dts::launch
