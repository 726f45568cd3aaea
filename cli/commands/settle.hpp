// SPDX-License-Identifier: Apache-2.0
// Protects a change in the scheduler: a Ctrl-C, a closed terminal or a controller that does not
// answer must not leave it half done.
#pragma once

#include "cli/output/report.hpp"
#include "core/sched/order.hpp"

#include <csignal>

namespace dts::cli {

// Holds back SIGINT, SIGTERM and SIGHUP while the value lives, so that the work is complete when
// they take effect. Create it before any thread that outlives it.
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

// If one of the signals has arrived, reports `result`'s error now, since the signal ends the
// process before a caller could. Return the value unchanged.
template <class T>
[[nodiscard]] Result<T> told_in_time(Result<T> result) {
  if (!result && HeldSignals::waiting()) report(result.error());
  return result;
}

// Waits up to a minute for the controller to report the outcome of a request, and says so on
// standard error; a held signal ends the wait.
[[nodiscard]] sched::Patience patience_with_words();

}  // namespace dts::cli
