// SPDX-License-Identifier: Apache-2.0
// What an attempt reports to its agent. All phases add to it, and the agent takes it.
#pragma once

#include "core/run/event/event.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dts::launch {

using Peer = int;  // the agent's number for a connection

struct AttemptNews {
  std::vector<std::string> notes{};                     // for the log
  std::vector<run::Event> events{};                     // for the ledger, once programs run
  std::vector<run::Event> early{};                      // for the ledger, at once
  std::vector<Peer> refused{};                          // connections to close
  std::optional<std::pair<unsigned, int>> signalled{};  // a rank and the signal that it received
};

}  // namespace dts::launch
