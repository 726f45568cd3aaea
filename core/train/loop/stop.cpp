// SPDX-License-Identifier: Apache-2.0
// sigaction and one atomic.
#include "core/train/loop/stop.hpp"

#include <atomic>
#include <csignal>

namespace dts::train {
namespace {

std::atomic<int> last_signal{0};
static_assert(std::atomic<int>::is_always_lock_free,
              "a signal handler may only touch a lock-free atomic");

extern "C" void remember_signal(int number) {
  last_signal.store(number, std::memory_order_relaxed);
}

}  // namespace

void catch_stop_signals() {
  struct sigaction action {};

  action.sa_handler = remember_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int number : {SIGTERM, SIGINT, SIGUSR1, SIGUSR2}) sigaction(number, &action, nullptr);
}

int stop_signal() {
  return last_signal.load(std::memory_order_relaxed);
}

}  // namespace dts::train
