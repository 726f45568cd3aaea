// SPDX-License-Identifier: Apache-2.0
#include "core/cluster/watch.hpp"

#include "core/base/files/files.hpp"
#include "core/base/text/text.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <thread>

namespace dts::cluster {
namespace {

// The last lines of a daemon's log.
std::string log_tail(const std::string& folder, const std::string& daemon) {
  constexpr std::size_t k_lines = 12;
  for (const char* kind : {".log", ".out"}) {
    const auto text = read_file(fmt::format("{}/log/{}{}", folder, daemon, kind));
    if (!text || trim(*text).empty()) continue;
    std::vector<std::string> lines = split(trim(*text), '\n');
    if (lines.size() > k_lines) lines.erase(lines.begin(), lines.end() - k_lines);
    return join(lines, "\n");
  }
  return "(no log)";
}

}  // namespace

tl::unexpected<Error> fail_daemon(const Layout& layout,
                                  const std::string& daemon,
                                  const std::string& what) {
  const std::string& folder = layout.spec.folder;
  return fail(Errc::io,
              fmt::format("{} {}; the end of its log:\n{}", daemon, what, log_tail(folder, daemon)),
              fmt::format("all logs are in {}/log", folder));
}

Result<void> check_alive(const Layout& layout, const std::vector<Daemon>& daemons) {
  for (const Daemon& daemon : daemons)
    if (::waitpid(daemon.pid, nullptr, WNOHANG) != 0)
      return fail_daemon(layout, daemon.name, "ended at once");
  return {};
}

Result<void> wait_for(const Layout& layout,
                      const std::vector<Daemon>& daemons,
                      std::chrono::steady_clock::time_point deadline,
                      const std::function<bool()>& answers) {
  while (!answers()) {
    DTS_TRY(check_alive(layout, daemons));
    if (std::chrono::steady_clock::now() > deadline)
      return fail_daemon(layout, daemons.back().name, "does not answer");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return {};
}

}  // namespace dts::cluster
