// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/held_signals.hpp"

#include "core/base/os/log.hpp"

namespace dts::cli {
namespace {

sigset_t held() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
  return set;
}

}  // namespace

HeldSignals::HeldSignals() {
  const sigset_t set = held();
  pthread_sigmask(SIG_BLOCK, &set, &before_);
}

HeldSignals::~HeldSignals() {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool HeldSignals::waiting() {
  sigset_t pending;
  if (sigpending(&pending) != 0) return false;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    if (sigismember(&pending, signal) == 1) return true;
  return false;
}

sched::Patience interactive_patience() {
  sched::Patience patience;
  patience.begins = [limit = patience.limit] {
    tell(
        "dtsubmit: no answer from the controller, which may still carry out the request; "
        "checking for {} s whether it did\n",
        std::chrono::duration_cast<std::chrono::seconds>(limit).count());
  };
  patience.given_up = HeldSignals::waiting;
  return patience;
}

}  // namespace dts::cli
