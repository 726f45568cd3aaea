// SPDX-License-Identifier: Apache-2.0
#include "core/topo/discover.hpp"

#include "core/base/files/files.hpp"
#include "core/base/os/process.hpp"
#include "core/base/text/text.hpp"
#include "core/topo/json.hpp"

#include <fmt/format.h>

namespace dts::topo {
namespace {

constexpr std::chrono::seconds k_limit{30};

// Converts the program's output: the message and, after k_hint_mark, what to do.
Error error_from(Errc code, std::string_view text) {
  Error error{code, std::string(trim(text)), {}};
  if (const std::size_t at = error.message.rfind(k_hint_mark); at != std::string::npos) {
    error.hint = error.message.substr(at + k_hint_mark.size());
    error.message.resize(at);
  }
  return error;
}

// Runs dtsubmit-topology with `arguments`. If the program reports an error, its message and kind
// are kept.
Result<NodeTopology> ask(std::vector<std::string> arguments) {
  Command command;
  command.argv = {library_folder() + "/dtsubmit-topology"};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  DTS_ASSIGN(const Output output, run_process(std::move(command), k_limit));
  if (output.exit_code == 0) return from_json(trim(output.out));
  for (const Errc code : {Errc::invalid, Errc::not_found, Errc::io})
    if (output.exit_code == exit_code(code) && !trim(output.err).empty())
      return tl::unexpected(error_from(code, output.err));
  return fail(Errc::internal,
              fmt::format("hwloc cannot determine this machine's cores: {} (exit {})",
                          trim(output.err),
                          output.exit_code));
}

}  // namespace

Result<NodeTopology> discover() {
  return ask({});
}

Result<NodeTopology> read_topology(const std::string& path) {
  return ask({path});
}

}  // namespace dts::topo
