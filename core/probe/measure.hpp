// SPDX-License-Identifier: Apache-2.0
// A rank of `dtsubmit doctor`'s probe: meets the other rank, tests what is only known inside a job,
// and has the job warned as the scheduler does before its time limit.
#pragma once

#include "core/base/os/environment.hpp"
#include "core/base/result.hpp"

#include <string>

namespace dts::probe {

// A rank ends within this many seconds; otherwise SIGALRM ends it.
inline constexpr unsigned k_longest = 30;

// Writes the rank's file in the run directory (facts.hpp), first before the warning and again after
// it. Returns the exit code of the rank's program, which says that it must not be run again,
// whatever was found. Call it once per process. `lookup` has a rank's variables
// (dtsubmit-environment(7)).
[[nodiscard]] Result<int> run_rank(const Lookup& lookup);

}  // namespace dts::probe
