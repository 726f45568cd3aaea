// SPDX-License-Identifier: Apache-2.0
// The quarantine as a job's agent uses it: that of the user and cluster that its variables name.
#pragma once

#include "core/run/ledger/decision.hpp"

#include <string>
#include <vector>

namespace dts::launch {

// Records and logs the nodes that an attempt's outcome speaks against. A file that cannot be
// written is only logged: it must not harm the run.
void remember_nodes(const run::Outcome& outcome, const std::string& run, unsigned attempt);

// The nodes in quarantine now, those that have been there longest first; none if that is not known.
[[nodiscard]] std::vector<std::string> nodes_in_quarantine();

}  // namespace dts::launch
