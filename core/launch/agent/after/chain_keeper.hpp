// SPDX-License-Identifier: Apache-2.0
// Keeps the next job of a run waiting while this one runs (--chain). One thread of its own at the
// start, because the scheduler may take its time.
#pragma once

#include "core/launch/job/assignment.hpp"
#include "core/launch/job/chain.hpp"
#include "core/run/ledger/decision.hpp"

#include <future>

namespace dts::launch {

class ChainKeeper {
 public:
  explicit ChainKeeper(const Assignment& job) : job_(job) {}

  // Submits the next job, in the background. Without --chain nothing is done, here and below.
  void begin();

  // True for an end after which the next job of the chain goes on, and no requeue is needed: the
  // job's time is up, or the program asked for another job and --on lets that be one.
  [[nodiscard]] bool is_for_next(const run::Outcome& outcome) const;

  // The chain as it is now. Blocks until begin()'s work is done.
  [[nodiscard]] Result<Chain> chain();

  // True if the chain has all the jobs that it may have.
  [[nodiscard]] bool is_used_up(const Chain& chain) const;

  // The run is over: nothing waits any more. What fails is logged; the job would find the run
  // ended.
  void cut();

 private:
  const Assignment& job_;
  std::future<Result<Chain>> extended_;
};

}  // namespace dts::launch
