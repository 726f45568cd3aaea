// SPDX-License-Identifier: Apache-2.0
// Exit codes in words.
#pragma once

#include "core/base/exit_codes.hpp"

#include <string>

namespace dts::launch {

// "exited 1", or "was killed by SIGTERM" for 128 + its number.
[[nodiscard]] std::string describe_exit(int code);

}  // namespace dts::launch
