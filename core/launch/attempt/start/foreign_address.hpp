// SPDX-License-Identifier: Apache-2.0
// A meeting place that the user's own command names, although the nodes of a job are not known
// before it starts: torchrun --master-addr 10.0.0.5. Pure.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace dts::launch {

// What is wrong with the address that the launcher in `command` is given for the job's rendezvous,
// if it is in none of `own`, the names and addresses of its ranks' nodes; empty: nothing, or it
// cannot be known.
[[nodiscard]] std::string foreign_address(const std::vector<std::string>& command,
                                          const std::set<std::string>& own);

}  // namespace dts::launch
