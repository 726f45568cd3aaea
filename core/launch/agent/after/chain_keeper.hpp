// SPDX-License-Identifier: Apache-2.0
// Keeps the next job of a run queued while this one runs (--chain). Submits it on its own thread,
// because the scheduler may take a while.
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

  // True if the next job of the chain continues after such an end, so that no requeue is needed:
  // the job's time is up, or the program asked for another job and --on allows it.
  [[nodiscard]] bool is_for_next(const run::Outcome& outcome) const;

  // The chain as it is now. Blocks until begin()'s work is done.
  [[nodiscard]] Result<Chain> chain();

  // True if the chain already has as many jobs as it may have.
  [[nodiscard]] bool is_used_up(const Chain& chain) const;

  // Call it when the run is over: no job of it waits any more. Failures are only logged; a leftover
  // job would find that the run has ended.
  void cut();

 private:
  const Assignment& job_;
  std::future<Result<Chain>> extended_;
};

}  // namespace dts::launch
