// SPDX-License-Identifier: Apache-2.0
#include "core/train/loop/stop.hpp"

#include "core/base/os/signals.hpp"

#include <csignal>

namespace dts::train {
namespace {

UniqueFd& pending() {
  static UniqueFd fd;
  return fd;
}

}  // namespace

Result<void> take_stop_signals() {
  DTS_ASSIGN(pending(), take_signals({SIGTERM, SIGINT, SIGUSR1, SIGUSR2}));
  return {};
}

int stop_signal() {
  static int first = 0;
  if (first == 0) first = read_signal(pending().get()).value_or(0);
  return first;
}

}  // namespace dts::train
