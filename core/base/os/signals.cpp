// SPDX-License-Identifier: Apache-2.0
#include "core/base/os/signals.hpp"

#include "core/base/os/wait.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

namespace dts {

Result<UniqueFd> take_signals(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  if (::sigprocmask(SIG_BLOCK, &set, nullptr) != 0) return fail_errno("cannot block signals");
  ::signal(SIGPIPE, SIG_IGN);
  UniqueFd fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd.valid()) return fail_errno("cannot make a signalfd");
  return fd;
}

std::optional<SentSignal> read_sent_signal(int fd) {
  signalfd_siginfo info{};
  if (::read(fd, &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return std::nullopt;
  return SentSignal{static_cast<int>(info.ssi_signo), static_cast<int>(info.ssi_pid), info.ssi_int};
}

std::optional<int> read_signal(int fd) {
  const auto signal = read_sent_signal(fd);
  return signal ? std::optional(signal->number) : std::nullopt;
}

std::optional<SentSignal> wait_for_one_of(int fd,
                                          std::initializer_list<int> awaited,
                                          std::chrono::milliseconds limit) {
  const auto until = std::chrono::steady_clock::now() + limit;
  while (std::chrono::steady_clock::now() < until) {
    if (!wait_readable(fd, until)) continue;
    while (const auto signal = read_sent_signal(fd))
      if (std::find(awaited.begin(), awaited.end(), signal->number) != awaited.end()) return signal;
  }
  return std::nullopt;
}

}  // namespace dts
