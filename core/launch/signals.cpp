// SPDX-License-Identifier: Apache-2.0
#include "core/launch/signals.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>

namespace dts::launch {

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

std::optional<int> read_signal(int fd) {
  signalfd_siginfo info{};
  if (::read(fd, &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return std::nullopt;
  return static_cast<int>(info.ssi_signo);
}

}  // namespace dts::launch
