// SPDX-License-Identifier: Apache-2.0
// What a command does while it changes something in the scheduler, so that a Ctrl-C, a closed
// terminal or a controller that does not answer leaves no half of it behind.
#pragma once

#include "cli/output/report.hpp"
#include "core/sched/order.hpp"

#include <csignal>

namespace dts::cli {

// SIGINT, SIGTERM and SIGHUP wait while the value lives: what they interrupt is whole afterwards.
// Make it before any thread that outlives it.
class HeldSignals {
 public:
  HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals();

  // One of them has come.
  [[nodiscard]] static bool waiting();

 private:
  sigset_t before_{};
};

// Reports `result`'s error now where one of them has come: it ends the process before anybody else
// could. To be returned as it is.
template <class T>
[[nodiscard]] Result<T> told_in_time(Result<T> result) {
  if (!result && HeldSignals::waiting()) report(result.error());
  return result;
}

// Waits a minute for the controller's word of what came of an order, says so on standard error,
// and no longer than until one of the held signals comes.
[[nodiscard]] sched::Patience patience_with_words();

}  // namespace dts::cli
