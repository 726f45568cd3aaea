// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/submission.hpp"

#include "core/base/os/log.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/units.hpp"
#include "core/run/index/quarantine_file.hpp"

#include <fmt/format.h>

namespace dts::cli {
namespace {

// A list of codes and ranges, "85,90-99".
bool lists(const std::string& codes, unsigned code) {
  for (const std::string& item : split(codes, ',')) {
    const std::size_t dash = item.find('-');
    const auto low = parse_number(trim(std::string_view(item).substr(0, dash)));
    const auto high = dash == std::string::npos
                          ? low
                          : parse_number(trim(std::string_view(item).substr(dash + 1)));
    if (low && high && *low <= code && code <= *high) return true;
  }
  return false;
}

}  // namespace

Result<void> check_exit_codes(const sched::ConfigInfo& config) {
  for (const unsigned code : {85U, 93U}) {
    for (const auto& [key, codes] : config.claimed_exits)
      if (lists(codes, code))
        return fail(
            Errc::invalid,
            fmt::format("this site's {} lists exit code {}, which dtsubmit uses itself", key, code),
            "ask the administrators to take it off that list");
  }
  return {};
}

std::vector<plan::ClusterView::Avoided> avoided_nodes(const std::string& cluster) {
  const auto path = run::quarantine_path(cluster);
  if (!path) return {};
  const auto strikes = run::read_strikes(*path);
  if (!strikes) {
    tell("dtsubmit: the quarantine of nodes is not applied: {}\n", strikes.error().message);
    return {};
  }
  std::vector<plan::ClusterView::Avoided> avoided;
  for (const run::Quarantined& node : run::quarantined(*strikes, std::chrono::system_clock::now()))
    avoided.push_back({node.node,
                       fmt::format("in quarantine until {} ({}): see `dtsubmit nodes`",
                                   format_utc(node.until),
                                   node.last.cause)});
  return avoided;
}

}  // namespace dts::cli
