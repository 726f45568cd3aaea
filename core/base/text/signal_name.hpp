// SPDX-License-Identifier: Apache-2.0
// Names of signals. glibc has them as sigabbrev_np only since 2.32.
#pragma once

namespace dts {

// "TERM" for SIGTERM; null for a number without a name, such as a real-time signal's.
[[nodiscard]] const char* signal_name(int signal);

}  // namespace dts
