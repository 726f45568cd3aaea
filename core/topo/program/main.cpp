// SPDX-License-Identifier: Apache-2.0
// dtsubmit-topology [FILE]: writes the topology of this machine, or of the machine that hwloc
// recorded in FILE (`-`: standard input), as one line of JSON for discover() and read_topology().
#include "core/base/files/files.hpp"
#include "core/base/os/log.hpp"
#include "core/base/text/text.hpp"
#include "core/topo/error_text.hpp"
#include "core/topo/fabric.hpp"
#include "core/topo/hwloc/load.hpp"
#include "core/topo/json.hpp"
#include "core/topo/override.hpp"

#include <cstdio>
#include <cstdlib>

namespace {

using namespace dts;

// The override file that $DTSUBMIT_TOPOLOGY names must exist, while the machine's own may be
// missing.
Result<topo::NodeTopology> this_machine() {
  DTS_ASSIGN(topo::NodeTopology node, topo::load_live());
  node = topo::with_links(std::move(node));
  const char* named = std::getenv("DTSUBMIT_TOPOLOGY");
  const std::string file = named != nullptr ? named : topo::k_override_file;
  if (named == nullptr && !exists(file)) return node;
  DTS_ASSIGN(const std::string text, read_file(file));
  return topo::apply_override(std::move(node), text, file);
}

}  // namespace

int main(int argc, char** argv) {
  const auto node = argc > 1 ? topo::load_xml(argv[1]) : this_machine();
  if (!node) {
    tell("{}\n", topo::to_text(node.error()));
    return exit_code(node.error().code);
  }
  return std::puts(topo::to_json(*node).c_str()) < 0 ? 74 : 0;
}
