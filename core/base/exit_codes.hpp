// SPDX-License-Identifier: Apache-2.0
// Exit codes that are a contract between dtsubmit, the programs that it runs and the scripts that
// run it: dtsubmit(1), EXIT STATUS.
#pragma once

namespace dts {

// Of a program:
inline constexpr int k_checkpointed = 85;  // "saved, run me again", HTCondor's convention
inline constexpr int k_no_restart = 93;    // "do not run me again"

// Of dtsubmit: what was given, or found, is not as it has to be. Errc::invalid; also of an attempt
// whose ranks, or their binding, are not as planned.
inline constexpr int k_wrong = 3;

}  // namespace dts
