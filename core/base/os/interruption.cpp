// SPDX-License-Identifier: Apache-2.0
#include "core/base/os/interruption.hpp"

#include <csignal>

namespace dts {
namespace {

volatile std::sig_atomic_t g_interrupted = 0;

}  // namespace

void remember_signals() {
  struct sigaction action {};

  action.sa_handler = [](int) { g_interrupted = 1; };
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(number, &action, nullptr);
}

Result<void> check_interruption() {
  if (g_interrupted == 0) return {};
  return fail(Errc::interrupted, "interrupted");
}

}  // namespace dts
