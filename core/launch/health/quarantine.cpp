// SPDX-License-Identifier: Apache-2.0
#include "core/launch/health/quarantine.hpp"

#include "core/base/os/environment.hpp"
#include "core/base/os/log.hpp"
#include "core/base/text/units.hpp"
#include "core/launch/launcher/identity.hpp"
#include "core/run/index/quarantine_file.hpp"

#include <set>

namespace dts::launch {
namespace {

Result<std::string> path_here() {
  return run::quarantine_path(getenv_lookup("SLURM_CLUSTER_NAME").value_or(""));
}

Result<std::vector<run::Quarantined>> poll(const std::string& path) {
  DTS_ASSIGN(const auto strikes, run::read_strikes(path));
  return run::quarantined(strikes, std::chrono::system_clock::now());
}

Result<void> remember(std::vector<run::Strike> strikes) {
  DTS_ASSIGN(const std::string path, path_here());
  std::set<std::string> nodes;
  for (const run::Strike& strike : strikes) nodes.insert(strike.node);
  DTS_TRY(run::add_strikes(path, std::move(strikes), std::chrono::system_clock::now()));
  DTS_ASSIGN(const auto all, poll(path));
  for (const run::Quarantined& one : all)
    if (nodes.count(one.node) > 0)
      log("{} is in quarantine until {} (dtsubmit nodes)", one.node, format_utc(one.until));
  return {};
}

}  // namespace

void remember_nodes(const run::Outcome& outcome, const std::string& run, unsigned attempt) {
  std::vector<run::Strike> strikes = run::strikes_of(outcome, run, attempt);
  if (strikes.empty()) return;
  if (const auto remembered = remember(std::move(strikes)); !remembered)
    log("the quarantine of nodes: {}", remembered.error().message);
}

std::vector<std::string> nodes_in_quarantine() {
  std::vector<std::string> nodes;
  const auto path = path_here();
  if (!path) return nodes;
  if (const auto all = poll(*path))
    for (const run::Quarantined& one : *all) nodes.push_back(one.node);
  return nodes;
}

}  // namespace dts::launch
