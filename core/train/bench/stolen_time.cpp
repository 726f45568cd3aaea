// SPDX-License-Identifier: Apache-2.0
// A timer of its own for each thread (timer_create(2), SIGEV_THREAD_ID).
#include "core/train/bench/stolen_time.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>

namespace dts::train::bench {
namespace {

constexpr long k_period_ns = 500000;
std::atomic<long> taken_ns{0};  // of each period

long now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000L + now.tv_nsec;
}

void spin(int /*signal*/) {
  const long end = now_ns() + taken_ns.load(std::memory_order_relaxed);
  while (now_ns() < end) {
  }
}

}  // namespace

StolenTime::StolenTime(double part) {
  if (part <= 0) return;
  taken_ns = static_cast<long>(part * static_cast<double>(k_period_ns));

  stack_ = std::make_unique<Stack>();
  const stack_t own{stack_->data(), 0, stack_->size()};
  if (sigaltstack(&own, nullptr) != 0) return;

  struct sigaction action {};

  action.sa_handler = spin;
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  sigaction(SIGUSR1, &action, nullptr);
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGUSR1;
  event._sigev_un._tid =
      static_cast<pid_t>(syscall(SYS_gettid));  // glibc has no public name for it
  if (timer_create(CLOCK_MONOTONIC, &event, &timer_) != 0) return;
  const itimerspec every{{0, k_period_ns}, {0, k_period_ns}};
  armed_ = timer_settime(timer_, 0, &every, nullptr) == 0;
  if (!armed_) timer_delete(timer_);
}

StolenTime::~StolenTime() {
  if (armed_) timer_delete(timer_);
  const stack_t none{nullptr, SS_DISABLE, 0};
  if (stack_) sigaltstack(&none, nullptr);
}

}  // namespace dts::train::bench
