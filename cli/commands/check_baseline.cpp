// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/check_baseline.hpp"

#include "core/base/files/files.hpp"
#include "core/base/files/trusted_file.hpp"
#include "core/base/text/text.hpp"
#include "core/run/index/quarantine_file.hpp"

namespace dts::cli {

Result<std::string> baseline_path(const std::string& cluster) {
  if (!is_safe_name(cluster))
    return fail(Errc::invalid, "the cluster's name `" + cluster + "` cannot be a file name");
  DTS_ASSIGN(const std::string state, state_folder());
  return state + "/baseline/" + cluster + ".json";
}

Result<std::optional<check::Facts>> read_baseline(const std::string& path) {
  const auto text = read_trusted_file(path, check::k_largest_facts);
  if (!text && text.error().code == Errc::not_found) return std::nullopt;
  if (!text) return tl::unexpected<Error>(text.error());
  auto facts = check::parse_facts(*text);
  if (!facts) return tl::unexpected<Error>(std::move(facts).error().during(path));
  return *std::move(facts);
}

Result<void> save_baseline(const std::string& path, const std::string& document) {
  DTS_TRY(make_folders(path.substr(0, path.rfind('/'))));
  return write_file(path, document);
}

Result<std::size_t> quarantine(const check::Verdict& verdict,
                               const std::string& cluster,
                               const std::string& run) {
  std::vector<run::Strike> strikes;
  for (const check::NodeVerdict& node : verdict.nodes)
    if (!node.fit)
      strikes.push_back({{}, node.name, run::k_check_strike, run, 0, node.reasons.front()});
  if (strikes.empty()) return std::size_t{0};
  DTS_ASSIGN(const std::string path, run::quarantine_path(cluster));
  const std::size_t count = strikes.size();
  DTS_TRY(run::add_strikes(path, std::move(strikes), std::chrono::system_clock::now()));
  return count;
}

}  // namespace dts::cli
