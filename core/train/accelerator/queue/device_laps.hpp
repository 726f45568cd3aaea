// SPDX-License-Identifier: Apache-2.0
// Measures when a device began and ended its work, by its own clock, so that nobody waits for it.
#pragma once

#include "core/train/accelerator/queue/queue.hpp"
#include "core/train/timing/timeline.hpp"

#include <cstddef>
#include <vector>

namespace dts::train::accelerator {

// Every function may throw DeviceError. Not thread-safe.
class DeviceLaps {
 public:
  // The queue must outlive this. Has room for `stretches` without another allocation.
  DeviceLaps(Queue& queue, std::size_t stretches);

  // Starts measuring what is enqueued from here on, up to the first lap.
  void begin() { mark(Phase::count); }

  // Assigns the work since the previous mark to `phase`.
  void lap(Phase phase) { mark(phase); }

  // Adds the laps to `track`, so that the last one ends now, and forgets them. The device must have
  // done everything that was marked.
  void report(Track& track);

 private:
  struct Mark {
    Event at;
    Phase phase = Phase::count;  // count: the work before it belongs to no phase
  };

  void mark(Phase phase);

  Queue& queue_;
  std::vector<Mark> marks_;  // of which used_ are in use
  std::size_t used_ = 0;
};

}  // namespace dts::train::accelerator
