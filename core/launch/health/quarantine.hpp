// SPDX-License-Identifier: Apache-2.0
// The quarantine list of the user and cluster that the agent's variables name.
#pragma once

#include "core/run/ledger/decision.hpp"

#include <string>
#include <vector>

namespace dts::launch {

// Records and logs the nodes that were at fault according to an attempt's outcome. A file that
// cannot be written is only logged, because it must not harm the run.
void remember_nodes(const run::Outcome& outcome, const std::string& run, unsigned attempt);

// The nodes now in quarantine, the oldest entries first; empty if the list cannot be read.
[[nodiscard]] std::vector<std::string> nodes_in_quarantine();

}  // namespace dts::launch
