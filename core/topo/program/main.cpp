// SPDX-License-Identifier: Apache-2.0
// dtsubmit-topology: this machine as one line of JSON, for discover().
#include "core/topo/fabric.hpp"
#include "core/topo/json.hpp"
#include "core/topo/load.hpp"

#include <cstdio>

int main() {
  auto topology = dts::topo::load_live();
  if (!topology) {
    std::fprintf(stderr, "%s\n", topology.error().message.c_str());
    return dts::exit_code(topology.error().code);
  }
  topology->fabric = dts::topo::find_fabric();
  return std::puts(dts::topo::to_json(*topology).c_str()) < 0 ? 74 : 0;
}
