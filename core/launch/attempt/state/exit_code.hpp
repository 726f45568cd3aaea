// SPDX-License-Identifier: Apache-2.0
// Exit codes in words.
#pragma once

#include "core/base/exit_codes.hpp"

#include <string>

namespace dts::launch {

// 128 + the number of a signal, as shells and process.hpp say it. Programs that exit(-1) end with
// 255, which is none.
[[nodiscard]] bool is_death_by_signal(int code);

// "exited 1", or "was killed by SIGTERM" for 128 + its number.
[[nodiscard]] std::string describe_exit(int code);

}  // namespace dts::launch
