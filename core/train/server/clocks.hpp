// SPDX-License-Identifier: Apache-2.0
// Limits how far workers may be apart (Q. Ho et al., "More Effective Distributed ML via a Stale
// Synchronous Parallel Parameter Server", NIPS 2013): a worker may begin step t only after all have
// completed step t - bound - 1. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace dts::train {

class StaleClocks {
 public:
  // All workers have completed `step` steps. With a bound of 0 no worker begins a step before all
  // have completed the one before.
  StaleClocks(int workers, std::uint64_t bound, std::uint64_t step)
      : bound_(bound), completed_(static_cast<std::size_t>(workers), step) {}

  // Counts one more step.
  void complete(std::size_t worker) { ++completed_[worker]; }

  // The number of steps that a worker, all workers, or at least one worker has completed.
  [[nodiscard]] std::uint64_t completed(std::size_t worker) const { return completed_[worker]; }

  [[nodiscard]] std::uint64_t slowest() const {
    return *std::min_element(completed_.begin(), completed_.end());
  }

  [[nodiscard]] std::uint64_t fastest() const {
    return *std::max_element(completed_.begin(), completed_.end());
  }

  // Whether it may begin its next step.
  [[nodiscard]] bool may_begin(std::size_t worker) const {
    return completed_[worker] - slowest() <= bound_;
  }

 private:
  std::uint64_t bound_;
  std::vector<std::uint64_t> completed_;  // by worker
};

}  // namespace dts::train
