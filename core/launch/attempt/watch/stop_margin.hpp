// SPDX-License-Identifier: Apache-2.0
// How long before the end of its time a job is asked to save. Pure.
#pragma once

#include "core/base/text/duration.hpp"

#include <algorithm>

namespace dts::launch {

// Twice the usual save (the median: every second save takes longer), plus the longest time in which
// the program did not respond (a step, an evaluation, or a save that has just begun), plus what it
// takes to signal the ranks, to end them and to release the job. At most half of `time`, the job's
// total time while programs run; otherwise they would never make progress. `save` must be known,
// i.e. above 0.
[[nodiscard]] inline Seconds stop_margin(Seconds save, Seconds longest_pause, Seconds time) {
  constexpr double k_safety = 2;
  constexpr Seconds k_overhead{10};
  return std::min(k_safety * save + longest_pause + k_overhead, time / 2);
}

}  // namespace dts::launch
