// SPDX-License-Identifier: Apache-2.0
#include "core/train/comm/transport.hpp"

#include <algorithm>

namespace dts::train {

template <class Ready>
bool Transport::wait_until(const Ready& ready, Deadline& deadline) {
  // Longer than any nap: then this process was stopped, by the scheduler or a debugger.
  constexpr std::chrono::seconds k_gap(2);
  constexpr std::chrono::milliseconds k_longest(100);
  constexpr int k_polls = 30;  // a peer on another core is about to answer
  constexpr std::chrono::microseconds k_shortest(20);
  if (ready()) return true;
  Clock::time_point moved = Clock::now();
  Clock::time_point last = moved;
  Clock::duration limit = k_shortest;
  for (int polls = 0; !ready(); ++polls) {
    if (progress()) {
      polls = 0;
      moved = last;
      limit = k_shortest;
      continue;
    }
    const Clock::time_point now = Clock::now();
    if (now - last > k_gap) deadline += now - last;
    last = now;
    if (now >= deadline) return false;
    if (polls < k_polls || now - moved < spin_) continue;
    nap(limit);
    limit = std::min<Clock::duration>(limit * 5 / 4, k_longest);
  }
  return true;
}

bool Transport::wait(Ticket ticket, Deadline& deadline) {
  return wait_until([&] { return done(ticket); }, deadline);
}

bool Transport::wait_sent(Ticket ticket, Deadline& deadline) {
  return wait_until([&] { return done(ticket) || on_loan(ticket); }, deadline);
}

}  // namespace dts::train
