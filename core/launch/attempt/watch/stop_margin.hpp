// SPDX-License-Identifier: Apache-2.0
// How long before the end of its time a job is asked to save. Pure.
#pragma once

#include "core/base/text/duration.hpp"

#include <algorithm>

namespace dts::launch {

// Twice the usual save time (a median, which every second save exceeds), plus the longest time in
// which the program did not respond (a step, an evaluation, or a save that has just begun), plus
// the time to signal the ranks, end them and release the job. At most half of `time`, the job's
// total time while programs run, since otherwise they would never make progress. `save` must be
// known, i.e. above 0.
[[nodiscard]] inline Seconds stop_margin(Seconds save, Seconds longest_pause, Seconds time) {
  constexpr double k_safety = 2;
  constexpr Seconds k_overhead{10};
  return std::min(k_safety * save + longest_pause + k_overhead, time / 2);
}

}  // namespace dts::launch
