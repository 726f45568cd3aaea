// SPDX-License-Identifier: Apache-2.0
// Signals stay pending for the training loop, and have no other effect.
#include "core/train/loop/stop.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <initializer_list>

TEST_CASE("stop signals wait until they are asked for, and the first is remembered") {
  REQUIRE(dts::train::take_stop_signals());
  CHECK(dts::train::stop_signal() == 0);
  for (const int number : {SIGUSR2, SIGTERM, SIGINT, SIGUSR1}) REQUIRE(std::raise(number) == 0);
  sigset_t pending;
  sigpending(&pending);
  for (const int number : {SIGTERM, SIGINT, SIGUSR1, SIGUSR2})
    CHECK(sigismember(&pending, number) == 1);
  const int first = dts::train::stop_signal();
  CHECK(first != 0);
  CHECK(dts::train::stop_signal() == first);
}
