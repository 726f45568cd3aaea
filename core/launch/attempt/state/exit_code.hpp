// SPDX-License-Identifier: Apache-2.0
// Exit codes of programs with a meaning of their own, and what an exit code is called.
#pragma once

#include <string>

namespace dts::launch {

// "saved, run me again", HTCondor's convention
inline constexpr int k_checkpointed = 85;
inline constexpr int k_no_restart = 93;
inline constexpr int k_wrong = 3;  // ours: ranks or their binding are not as planned

// "exited 1", or "was killed by SIGTERM" of 128 + its number.
[[nodiscard]] std::string describe_exit(int code);

}  // namespace dts::launch
