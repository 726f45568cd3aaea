// SPDX-License-Identifier: Apache-2.0
// Signals set the stop flag and nothing else.
#include "core/train/loop/stop.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <initializer_list>

TEST_CASE("each stop signal sets the flag and the process lives on") {
  dts::train::catch_stop_signals();
  for (const int number : {SIGTERM, SIGINT, SIGUSR1, SIGUSR2}) {
    REQUIRE(std::raise(number) == 0);
    CHECK(dts::train::stop_signal() == number);
  }
}
