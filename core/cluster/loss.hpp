// SPDX-License-Identifier: Apache-2.0
// Takes a node down, for drills and tests.
#pragma once

#include "core/base/result.hpp"

#include <string>

namespace dts::cluster {

// Sends SIGKILL to the slurmd of `node` and to everything that runs there, as simultaneously as the
// kernel allows. The node stays dead until the cluster is restarted. Errc::not_found if the cluster
// in `folder` has no such node, or if it is already dead.
[[nodiscard]] Result<void> lose_node(const std::string& folder, const std::string& node);

}  // namespace dts::cluster
