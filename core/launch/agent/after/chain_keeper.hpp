// SPDX-License-Identifier: Apache-2.0
// Keeps the next job of a run in the queue while this one runs (--chain). Submits it on a thread of
// its own, because the scheduler may take a while.
#pragma once

#include "core/launch/job/assignment.hpp"
#include "core/launch/job/chain.hpp"
#include "core/run/ledger/decision.hpp"

#include <future>

namespace dts::launch {

class ChainKeeper {
 public:
  explicit ChainKeeper(const Assignment& job) : job_(job) {}

  // Submits the next job in the background. Without --chain, no function here does anything.
  void begin();

  // True if the next job of the chain continues the run after such an outcome, so that no requeue
  // is needed: the job's time is up, or the program asked for another job and --on allows it.
  [[nodiscard]] bool is_for_next(const run::Outcome& outcome) const;

  // The current state of the chain. Blocks until begin()'s work is done.
  [[nodiscard]] Result<Chain> chain();

  // True if the chain already has the maximum number of jobs.
  [[nodiscard]] bool is_used_up(const Chain& chain) const;

  // Call it when the run is over, so that none of its jobs waits any more. Failures are only
  // logged, since a job that remains would find that the run has ended.
  void cut();

 private:
  const Assignment& job_;
  std::future<Result<Chain>> extended_;
};

}  // namespace dts::launch
