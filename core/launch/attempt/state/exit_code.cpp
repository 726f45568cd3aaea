// SPDX-License-Identifier: Apache-2.0
#include "core/launch/attempt/state/exit_code.hpp"

#include "core/base/text/signal_name.hpp"

#include <fmt/format.h>

#include <csignal>

namespace dts::launch {

bool is_death_by_signal(int code) {
  return code > 128 && code <= 128 + SIGRTMAX;
}

std::string describe_exit(int code) {
  if (!is_death_by_signal(code)) return fmt::format("exited {}", code);
  const char* name = signal_name(code - 128);
  return name != nullptr ? fmt::format("was killed by SIG{}", name)
                         : fmt::format("was killed by signal {}", code - 128);
}

}  // namespace dts::launch
