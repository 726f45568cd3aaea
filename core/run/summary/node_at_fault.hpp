// SPDX-License-Identifier: Apache-2.0
// Whether the node of the rank that failed first is to blame for that, and to be avoided.
#pragma once

#include "core/run/directory/run_directory.hpp"
#include "core/run/ledger/decision.hpp"

#include <string>
#include <vector>

namespace dts::run {

// outcome.node, otherwise that of the rank that failed first. Empty if the ranks did not find each
// other and ranks on several nodes say so, or only the launcher says so (Open MPI's MPI_Init), or
// the address was that of every node (localhost): which of them ended first is then chance, and
// another node would be no better. Reads the ends of at most 256 logs. `rank_nodes`: by rank;
// empty: not known.
[[nodiscard]] std::string node_at_fault(const Outcome& outcome,
                                        const RunDirectory& run,
                                        unsigned attempt,
                                        const std::vector<std::string>& rank_nodes);

}  // namespace dts::run
