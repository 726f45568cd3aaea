// SPDX-License-Identifier: Apache-2.0
// What can be said of a file of `lstopo --of xml` without hwloc, and a process in which hwloc may
// crash. Private to core/topo.
#pragma once

#include "core/base/result.hpp"
#include "core/topo/topology.hpp"

#include <functional>
#include <string>

namespace dts::topo {

// Errc::invalid if `text`, called `name`, is empty, incomplete, or of a later hwloc than we have.
[[nodiscard]] Result<void> check_xml(const std::string& text, const std::string& name);

// The error of a file that is none of hwloc's.
[[nodiscard]] tl::unexpected<Error> not_a_topology(const std::string& name);

// hwloc 2.9 crashes on some damaged files (found by mutation, 1 in 600) and prints long complaints
// about others, so a silent child limited to 10 s runs `read` and sends back its result.
// Errc::invalid if it fails, crashes or takes longer.
[[nodiscard]] Result<NodeTopology> in_child(const std::function<Result<NodeTopology>()>& read,
                                            const std::string& name);

}  // namespace dts::topo
