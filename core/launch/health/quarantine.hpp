// SPDX-License-Identifier: Apache-2.0
// The quarantine as a job's agent sees it: of the user and the cluster that its variables name.
#pragma once

#include "core/run/ledger/decision.hpp"

#include <string>
#include <vector>

namespace dts::launch {

// Writes down the nodes that an attempt's end speaks against, and logs it. A file that cannot be
// written is logged too: it must not cost the run anything.
void remember_nodes(const run::Outcome& outcome, const std::string& run, unsigned attempt);

// The nodes in quarantine now, those that have been there longest first; none where that is not
// known.
[[nodiscard]] std::vector<std::string> nodes_in_quarantine();

}  // namespace dts::launch
