// SPDX-License-Identifier: Apache-2.0
// For steps that not all workers have completed: the sums of everything but gradients (loss,
// correct predictions, batch statistics). Pure.
#pragma once

#include "core/train/device/kernels.hpp"
#include "core/train/memory/buffer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace dts::train {

class StepTails {
 public:
  struct Step {
    Buffer tail;  // the sum, in the workers' order of arrival
    std::size_t workers = 0;
    std::uint64_t staleness = 0;  // sum over the workers
    std::uint64_t most_stale = 0;
  };

  // `next` steps are complete; `floats` is a multiple of 16.
  StepTails(std::size_t floats, std::uint64_t next) : floats_(floats), next_(next) {}

  // Adds the sums of a worker that had completed `step` steps, at least as many as are complete.
  void add(std::uint64_t step, const float* tail, std::uint64_t staleness) {
    while (steps_.size() <= step - next_) steps_.push_back({Buffer(floats_)});
    Step& one = steps_[step - next_];
    dts::train::add(one.tail.data(), one.tail.data(), tail, floats_);
    ++one.workers;
    one.staleness += staleness;
    one.most_stale = std::max(one.most_stale, staleness);
  }

  // Removes and returns the oldest step. Call this once all workers have added theirs.
  [[nodiscard]] Step take() {
    Step oldest = std::move(steps_.front());
    steps_.pop_front();
    ++next_;
    return oldest;
  }

 private:
  std::size_t floats_;
  std::uint64_t next_;
  std::deque<Step> steps_;
};

}  // namespace dts::train
