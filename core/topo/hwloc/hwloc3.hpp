// SPDX-License-Identifier: Apache-2.0
// Files of `lstopo --of xml` of hwloc 3, for a hwloc 2 to read. Private to core/topo.
#pragma once

#include <string>
#include <string_view>

namespace dts::topo {

// The version in `<topology version="3.0">`, a part of `text`; empty if it has none (hwloc 1).
[[nodiscard]] std::string_view version_of(std::string_view text);

// What a file of version 3 says in the words of version 2. Three values have new meanings
// (hwloc's NEWS of 3.0.0, and its export with HWLOC_TOPOLOGY_EXPORT_XML_FLAG_V2): the version, the
// types of OS devices, now bits, and the kind of distances counted in hops. hwloc 2 ignores what
// it does not know: tiers of memory, localities of PCI buses, facts about the topology.
[[nodiscard]] std::string as_version_2(std::string_view text);

}  // namespace dts::topo
