// SPDX-License-Identifier: Apache-2.0
// How a rank waits for others: it polls, then spins if it has a core of its own, then sleeps for
// longer and longer times.
#pragma once

#include <algorithm>
#include <chrono>

namespace dts::train {

enum class Waited { done, moved, nothing };  // the result of one look

// Calls `look` until it returns done. Returns false if the deadline passes first. Time in which
// this process was stopped does not count: the deadline moves by it. `spin` is how long the wait
// keeps the core after something moved; `sleep_briefly` is called with the longest time that it may
// sleep.
template <class Poll, class Nap>
[[nodiscard]] bool wait_until(std::chrono::steady_clock::time_point& deadline,
                              std::chrono::steady_clock::duration spin,
                              const Poll& look,
                              const Nap& sleep_briefly) {
  using Clock = std::chrono::steady_clock;
  // Longer than any sleep_briefly(): a gap of this length means that the scheduler or a debugger
  // stopped the process.
  constexpr std::chrono::seconds k_gap(2);
  constexpr std::chrono::milliseconds k_longest(100);
  constexpr int k_polls = 30;  // a peer on another core may be about to answer
  constexpr std::chrono::microseconds k_shortest(20);
  Waited found = look();
  if (found == Waited::done) return true;
  Clock::time_point moved = Clock::now();
  Clock::time_point last = moved;
  Clock::duration limit = k_shortest;
  for (int polls = 0; found != Waited::done; ++polls, found = look()) {
    if (found == Waited::moved) {
      polls = 0;
      moved = last;
      limit = k_shortest;
      continue;
    }
    const Clock::time_point now = Clock::now();
    if (now - last > k_gap) deadline += now - last;
    last = now;
    if (now >= deadline) return false;
    if (polls < k_polls || now - moved < spin) continue;
    sleep_briefly(limit);
    limit = std::min<Clock::duration>(limit * 5 / 4, k_longest);
  }
  return true;
}

}  // namespace dts::train
