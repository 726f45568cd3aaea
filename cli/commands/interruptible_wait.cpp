// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/interruptible_wait.hpp"

#include "core/base/os/log.hpp"

#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <thread>
#include <utility>

namespace dts::cli {
namespace {

volatile std::sig_atomic_t is_interrupted = 0;

void note_interrupt(int /*signal*/) {
  is_interrupted = 1;
}

}  // namespace

InterruptibleWait::InterruptibleWait(std::string words) : words_(std::move(words)) {
  struct sigaction noted {};

  noted.sa_handler = note_interrupt;
  noted.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  ::sigaction(SIGINT, nullptr, &before_);
  if (before_.sa_handler != SIG_IGN) ::sigaction(SIGINT, &noted, nullptr);
}

InterruptibleWait::~InterruptibleWait() {
  ::sigaction(SIGINT, &before_, nullptr);
}

void InterruptibleWait::pause(std::chrono::milliseconds length) const {
  // Blocked, a signal would wait for us even if it is ignored.
  if (before_.sa_handler == SIG_IGN) return std::this_thread::sleep_for(length);
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(length);
  const timespec limit{static_cast<time_t>(seconds.count()),
                       static_cast<long>((length - seconds).count()) * 1'000'000};
  sigset_t interrupt, mask;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  // Blocked, so that none arrives between the question and the sleep.
  pthread_sigmask(SIG_BLOCK, &interrupt, &mask);
  if (is_interrupted != 0 || ::sigtimedwait(&interrupt, nullptr, &limit) == SIGINT) end();
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
}

void InterruptibleWait::end() const {
  tell("\n{}\n", words_);  // the terminal has printed ^C
  std::signal(SIGINT, SIG_DFL);
  sigset_t interrupt;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  ::raise(SIGINT);
  pthread_sigmask(SIG_UNBLOCK, &interrupt, nullptr);
  ::_exit(128 + SIGINT);  // not reached
}

}  // namespace dts::cli
