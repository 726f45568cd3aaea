// SPDX-License-Identifier: Apache-2.0
// When a device began and ended what it was given, by its own clock: nobody waits for it.
#pragma once

#include "core/train/accelerator/queue/queue.hpp"
#include "core/train/timing/timeline.hpp"

#include <cstddef>
#include <vector>

namespace dts::train::accelerator {

// Everything throws DeviceError. Not thread-safe.
class DeviceLaps {
 public:
  // The queue must outlive it; without a further allocation it has room for `stretches`.
  DeviceLaps(Queue& queue, std::size_t stretches);

  // What the device does from here on, up to the first lap.
  void begin() { mark(Phase::count); }

  // What it did since the mark before was `phase`.
  void lap(Phase phase) { mark(phase); }

  // Once the device has done all that was marked: adds the laps to `track`, the last one of which
  // ends now, and forgets them.
  void tell(Track& track);

 private:
  struct Mark {
    Event at;
    Phase phase = Phase::count;  // count: what was before it is of no phase
  };

  void mark(Phase phase);

  Queue& queue_;
  std::vector<Mark> marks_;  // the first `used_` of them
  std::size_t used_ = 0;
};

}  // namespace dts::train::accelerator
