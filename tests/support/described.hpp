// SPDX-License-Identifier: Apache-2.0
// The described machines in tests/data/machines, both as hwloc shows them and as the product reads
// that.
#pragma once

#include "core/topo/topology.hpp"
#include "tests/support/machine.hpp"

#include <string>
#include <vector>

namespace dts::tests {

// The names of all machines, "dgx-a100", ..., sorted.
[[nodiscard]] std::vector<std::string> machine_names();

[[nodiscard]] Result<Machine> read_machine(const std::string& name);

// Loads the machine through hwloc's XML and topo::load_xml(), with the ports of network adapters
// whose rates the description gives.
[[nodiscard]] Result<topo::NodeTopology> load_machine(const Machine& machine);
[[nodiscard]] Result<topo::NodeTopology> load_machine(const std::string& name);

}  // namespace dts::tests
