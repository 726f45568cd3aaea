// SPDX-License-Identifier: Apache-2.0
// Describes exit codes.
#pragma once

#include "core/base/exit_codes.hpp"

#include <string>

namespace dts::launch {

// True for 128 + the number of a signal, the notation of shells and process.hpp. 255, the code of
// programs that call exit(-1), is not one.
[[nodiscard]] bool is_death_by_signal(int code);

// "exited 1", or "was killed by SIGTERM" for 128 + its number.
[[nodiscard]] std::string describe_exit(int code);

}  // namespace dts::launch
