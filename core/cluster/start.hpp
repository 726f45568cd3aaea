// SPDX-License-Identifier: Apache-2.0
// Starts a cluster from its layout.
#pragma once

#include "core/base/result.hpp"
#include "core/cluster/daemons.hpp"
#include "core/cluster/layout/config.hpp"

#include <string>
#include <vector>

namespace dts::cluster {

[[nodiscard]] std::vector<std::string> node_names(const Layout& layout);

// Ends what is left of a cluster and empties its folder. The folder itself stays, as it may be
// locked.
[[nodiscard]] Result<void> clear(const Layout& layout);

// Chooses free endpoints (set in `layout`), writes all files into the empty folder, starts the
// daemons and waits until every node is idle. On failure no process is left, but the folder stays
// for its logs; Errc::io has the end of the relevant one. Gives up after 20 s.
[[nodiscard]] Result<void> start(const Programs& programs, Layout& layout);

}  // namespace dts::cluster
