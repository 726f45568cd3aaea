// SPDX-License-Identifier: Apache-2.0
#include "core/topo/discover.hpp"

#include "core/base/files.hpp"
#include "core/base/process.hpp"
#include "core/base/text.hpp"
#include "core/topo/json.hpp"

#include <fmt/format.h>

namespace dts::topo {
namespace {

constexpr std::chrono::seconds k_limit{30};

}  // namespace

Result<NodeTopology> discover() {
  Command command;
  command.argv = {library_folder() + "/dtsubmit-topology"};
  DTS_ASSIGN(const Output output, run_process(std::move(command), k_limit));
  if (output.exit_code != 0)
    return fail(Errc::internal,
                fmt::format("hwloc cannot tell this machine's cores: {} (exit {})",
                            trim(output.err),
                            output.exit_code));
  return from_json(trim(output.out));
}

}  // namespace dts::topo
