// SPDX-License-Identifier: Apache-2.0
// A node that dies, for drills and tests.
#pragma once

#include "core/base/result.hpp"

#include <string>

namespace dts::cluster {

// SIGKILL to the slurmd of `node` and to everything that runs on it, all at once as far as the
// kernel lets us. The node stays dead until the cluster is started anew. Errc::not_found where the
// cluster in `folder` has no such node, or it is dead already.
[[nodiscard]] Result<void> lose_node(const std::string& folder, const std::string& node);

}  // namespace dts::cluster
