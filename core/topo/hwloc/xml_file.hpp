// SPDX-License-Identifier: Apache-2.0
// Checks a file of `lstopo --of xml` without hwloc, and provides a process in which hwloc may
// crash. Private to core/topo.
#pragma once

#include "core/base/result.hpp"
#include "core/topo/topology.hpp"

#include <functional>
#include <string>

namespace dts::topo {

inline constexpr const char* k_write_again = "write it again with `lstopo --of xml FILE`";

// `text` as hwloc 2 reads it. Errc::invalid if it is empty, incomplete, or from a later hwloc than
// 3; `name` is for messages.
[[nodiscard]] Result<std::string> readable_xml(std::string text, const std::string& name);

// The error for a file that hwloc does not accept. `complaints` is what it wrote to standard error
// (HWLOC_XML_VERBOSE): the message has the line and the reason if they are known.
[[nodiscard]] tl::unexpected<Error> not_a_topology(const std::string& name,
                                                   const std::string& complaints);

// Reads a topology. `complaints` is a file with the first of hwloc's complaints; -1: none.
using ReadTopology = std::function<Result<NodeTopology>(int complaints)>;

// Runs `read` in a silent child process limited to 10 s, and returns its result: hwloc 2.9 crashes
// on some damaged files (found by mutation, 1 in 600) and prints long complaints about others.
// Errc::invalid if the child fails, crashes or takes longer.
[[nodiscard]] Result<NodeTopology> in_child(const ReadTopology& read, const std::string& name);

// The text in such a file; empty if there is none.
[[nodiscard]] std::string complaints_in(int file);

}  // namespace dts::topo
