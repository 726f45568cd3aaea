// SPDX-License-Identifier: Apache-2.0
// Protects a change in the scheduler from being left half done by a Ctrl-C, a closed terminal or an
// unresponsive controller.
#pragma once

#include "cli/output/report.hpp"
#include "core/sched/order.hpp"

#include <csignal>

namespace dts::cli {

// Blocks SIGINT, SIGTERM and SIGHUP during its lifetime, so that the work is complete when they
// take effect. Create it before any thread that outlives it.
class HeldSignals {
 public:
  HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals();

  // True if one of them is pending.
  [[nodiscard]] static bool waiting();

 private:
  sigset_t before_{};
};

// If one of the signals is pending, reports `result`'s error now, since the signal ends the process
// before a caller could. Returns the value unchanged.
template <class T>
[[nodiscard]] Result<T> report_before_signal(Result<T> result) {
  if (!result && HeldSignals::waiting()) report(result.error());
  return result;
}

// Waits up to a minute for the controller to report the outcome of a request and tells the user on
// standard error; a pending signal ends the wait.
[[nodiscard]] sched::Patience interactive_patience();

}  // namespace dts::cli
