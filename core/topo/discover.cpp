// SPDX-License-Identifier: Apache-2.0
#include "core/topo/discover.hpp"

#include "core/base/files/files.hpp"
#include "core/base/files/own_file.hpp"
#include "core/base/files/unique_fd.hpp"
#include "core/base/os/process.hpp"
#include "core/base/text/text.hpp"
#include "core/topo/error_text.hpp"
#include "core/topo/json.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>

namespace dts::topo {
namespace {

constexpr std::chrono::seconds k_limit{30};

// Runs dtsubmit-topology with `arguments`. If the program reports an error, its message and kind
// are kept.
Result<NodeTopology> ask(std::vector<std::string> arguments, int standard_input = -1) {
  Command command;
  command.stdin_fd = standard_input;
  command.argv = {library_folder() + "/dtsubmit-topology"};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  // Slurm signals every process of a job (proctrack/linuxproc). The agent handles the signal, and
  // still needs the answer.
  command.blocked_signals = {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2};
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

std::string name_of(const std::string& path) {
  return path == k_standard_input ? "standard input" : path;
}

Result<NodeTopology> read_topology(const std::string& path) {
  if (path != k_standard_input) return ask({path});
  // Read here, where nothing limits the time: it may come from another machine.
  DTS_ASSIGN(const std::string text,
             read_open_file(STDIN_FILENO, name_of(path), k_largest_topology));
  const UniqueFd file(::memfd_create("topology", MFD_CLOEXEC));
  if (!file.valid()) return fail_errno("cannot make a memory file");
  DTS_TRY(write_whole(file.get(), text, "a memory file"));
  if (::lseek(file.get(), 0, SEEK_SET) != 0) return fail_errno("cannot read a memory file");
  return ask({path}, file.get());
}

}  // namespace dts::topo
