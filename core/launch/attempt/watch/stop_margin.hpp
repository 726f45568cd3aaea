// SPDX-License-Identifier: Apache-2.0
// How long before the end of its time a job is asked to save. Pure.
#pragma once

#include "core/base/text/duration.hpp"

#include <algorithm>

namespace dts::launch {

// Twice the usual save (a median: every second one takes longer), the longest time in which the
// program did not listen (a step, an evaluation, or a save that has just begun) and what it takes
// to tell the ranks, to end them and to hand the job back. At most half of `time`, which the job
// has in all while its programs run: they would never get on. `save`, which is known, is above 0.
[[nodiscard]] inline Seconds stop_margin(Seconds save, Seconds longest_pause, Seconds time) {
  constexpr double k_safety = 2;
  constexpr Seconds k_overhead{10};
  return std::min(k_safety * save + longest_pause + k_overhead, time / 2);
}

}  // namespace dts::launch
