// SPDX-License-Identifier: Apache-2.0
#include "core/train/comm/transport.hpp"

#include "core/train/comm/waiting.hpp"

namespace dts::train {

template <class Ready>
bool Transport::wait_for(const Ready& ready, Deadline& deadline) {
  const auto look = [&] {
    if (ready()) return Waited::done;
    return progress() ? Waited::moved : Waited::nothing;
  };
  return wait_until(deadline, spin_, look, [this](Clock::duration limit) { sleep_briefly(limit); });
}

bool Transport::wait(Ticket ticket, Deadline& deadline) {
  return wait_for([&] { return done(ticket); }, deadline);
}

bool Transport::wait_sent(Ticket ticket, Deadline& deadline) {
  return wait_for([&] { return done(ticket) || on_loan(ticket); }, deadline);
}

bool Transport::wait_ready(const std::function<bool()>& ready, Deadline& deadline) {
  return wait_for(ready, deadline);
}

}  // namespace dts::train
