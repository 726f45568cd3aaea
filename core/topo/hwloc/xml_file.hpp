// SPDX-License-Identifier: Apache-2.0
// Checks a file of `lstopo --of xml` without hwloc, and provides a process in which hwloc may
// crash. Private to core/topo.
#pragma once

#include "core/base/result.hpp"
#include "core/topo/topology.hpp"

#include <functional>
#include <string>

namespace dts::topo {

// Errc::invalid if `text` is empty, incomplete, or from a later hwloc than ours; `name` is for
// messages.
[[nodiscard]] Result<void> check_xml(const std::string& text, const std::string& name);

// The error for a file that hwloc did not write.
[[nodiscard]] tl::unexpected<Error> not_a_topology(const std::string& name);

// Runs `read` in a silent child process limited to 10 s, and returns its result: hwloc 2.9 crashes
// on some damaged files (found by mutation, 1 in 600) and prints long complaints about others.
// Errc::invalid if the child fails, crashes or takes longer.
[[nodiscard]] Result<NodeTopology> in_child(const std::function<Result<NodeTopology>()>& read,
                                            const std::string& name);

}  // namespace dts::topo
