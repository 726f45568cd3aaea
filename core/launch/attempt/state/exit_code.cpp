// SPDX-License-Identifier: Apache-2.0
#include "core/launch/attempt/state/exit_code.hpp"

#include <fmt/format.h>

#include <cstring>

namespace dts::launch {

std::string describe_exit(int code) {
  if (code < 128) return fmt::format("exited {}", code);
  const char* name = ::sigabbrev_np(code - 128);
  return name != nullptr ? fmt::format("was killed by SIG{}", name)
                         : fmt::format("was killed by signal {}", code - 128);
}

}  // namespace dts::launch
