// SPDX-License-Identifier: Apache-2.0
// A rank of the probe of `dtsubmit doctor`: meets the other one, tries what a job cannot know from
// outside, and has the job warned as the scheduler does before its time limit.
#pragma once

#include "core/base/os/environment.hpp"
#include "core/base/result.hpp"

#include <string>

namespace dts::probe {

// In all, a rank takes less than this many seconds; SIGALRM ends it otherwise.
inline constexpr unsigned k_longest = 30;

// Writes the rank's file in the run directory (facts.hpp), for the first time before the warning.
// The exit code of the rank's program says that it is not to be run again, whatever was found. One
// for each process. `lookup` has a rank's variables (dtsubmit-environment(7)).
[[nodiscard]] Result<int> run_rank(const Lookup& lookup);

}  // namespace dts::probe
