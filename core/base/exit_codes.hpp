// SPDX-License-Identifier: Apache-2.0
// Exit codes that form a contract between dtsubmit, the programs that it runs and the scripts that
// run it: dtsubmit(1), EXIT STATUS.
#pragma once

namespace dts {

// From a program:
inline constexpr int k_checkpointed = 85;  // "saved, run me again", HTCondor's convention
inline constexpr int k_no_restart = 93;    // "do not run me again"
inline constexpr int k_corrupted = 94;     // the trainer's: the bits of a rank are wrong

// From dtsubmit: an input, or something that was found, does not meet its requirements
// (Errc::invalid). Also for an attempt whose ranks or bindings are not as planned.
inline constexpr int k_wrong = 3;

// From `dtsubmit check`: a node or a link is at fault.
inline constexpr int k_unfit = 1;

// From `dtsubmit lint`: something was found.
inline constexpr int k_findings = 1;

// From `dtsubmit convert`: the job file does not do all that the script does.
inline constexpr int k_lossy = 1;

}  // namespace dts
