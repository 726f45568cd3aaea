// SPDX-License-Identifier: Apache-2.0
// An outcome and what the ranks' logs say of it.
#pragma once

#include "core/run/decision.hpp"
#include "core/run/run_directory.hpp"

namespace dts::run {

// `outcome` with the cause that the failed rank's last lines show, if they do; and where that rank
// may be only the victim of another, with the rank whose lines show a cause of their own. Reads the
// ends of at most 256 logs. Thread-safe.
[[nodiscard]] Outcome explain(Outcome outcome,
                              const RunDirectory& run,
                              unsigned attempt,
                              unsigned world_size);

}  // namespace dts::run
