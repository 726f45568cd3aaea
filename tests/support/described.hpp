// SPDX-License-Identifier: Apache-2.0
// The described machines of tests/data/machines, as hwloc shows them and as the product reads that.
#pragma once

#include "core/topo/topology.hpp"
#include "tests/support/machine.hpp"

#include <string>
#include <vector>

namespace dts::tests {

// "dgx-a100", ..., sorted.
[[nodiscard]] std::vector<std::string> machine_names();

[[nodiscard]] Result<Machine> read_machine(const std::string& name);

// By way of hwloc's XML and topo::load_xml(), with the adapters' ports where the description says
// their rates.
[[nodiscard]] Result<topo::NodeTopology> load_machine(const Machine& machine);
[[nodiscard]] Result<topo::NodeTopology> load_machine(const std::string& name);

}  // namespace dts::tests
