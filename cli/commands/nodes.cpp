// SPDX-License-Identifier: Apache-2.0
// dtsubmit nodes: lists quarantined nodes with reason and time left, and releases them.
#include "cli/commands/command.hpp"
#include "cli/output/report.hpp"
#include "core/base/text/hostlist.hpp"
#include "core/base/text/json_text.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/units.hpp"
#include "core/base/text/utf8.hpp"
#include "core/run/index/quarantine_file.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>

namespace dts::cli {
namespace {

struct NodesOptions {
  std::string cluster;
  std::string release;  // a host list
  bool json = false;
};

struct ShownNode {
  std::string cluster;
  run::Quarantined node;
};

Result<std::vector<ShownNode>> look(const std::vector<std::string>& clusters, run::WallTime now) {
  std::vector<ShownNode> all;
  for (const std::string& cluster : clusters) {
    DTS_ASSIGN(const std::string path, run::quarantine_path(cluster));
    DTS_ASSIGN(const auto strikes, run::read_strikes(path));
    warn(run::strikes_damage(path));
    for (run::Quarantined& node : run::quarantined(strikes, now))
      all.push_back({cluster, std::move(node)});
  }
  return all;
}

Result<void> release(const NodesOptions& options,
                     const std::vector<ShownNode>& all,
                     run::WallTime now) {
  DTS_ASSIGN(const auto names, expand_hostlist(options.release));
  for (const std::string& name : names)
    if (std::none_of(
            all.begin(), all.end(), [&](const ShownNode& one) { return one.node.node == name; }))
      return fail(Errc::not_found,
                  fmt::format("{} is not in quarantine", name),
                  "`dtsubmit nodes` lists those that are");
  for (const ShownNode& one : all) {
    if (std::find(names.begin(), names.end(), one.node.node) == names.end()) continue;
    DTS_ASSIGN(const std::string path, run::quarantine_path(one.cluster));
    run::Strike strike;
    strike.node = one.node.node;
    strike.cause = run::k_released;
    DTS_TRY(run::add_strikes(path, {strike}, now));
    if (!options.json) fmt::print("released {} of {}\n", one.node.node, one.cluster);
  }
  return {};
}

void print_json(const std::vector<ShownNode>& all) {
  nlohmann::ordered_json nodes = nlohmann::ordered_json::array();
  for (const auto& [cluster, node] : all)
    nodes.push_back({{"cluster", cluster},
                     {"node", node.node},
                     {"since", format_utc(node.since)},
                     {"until", format_utc(node.until)},
                     {"times", node.times},
                     {"cause", node.last.cause},
                     {"detail", node.last.detail},
                     {"run_directory", node.last.run},
                     {"attempt", node.last.attempt}});
  const nlohmann::ordered_json document{{"schema", "dtsubmit/nodes/1"},
                                        {"quarantine", std::move(nodes)}};
  fmt::print("{}", json_text(document));
}

void print_table(const std::vector<ShownNode>& all) {
  if (all.empty()) return fmt::print("no node is in quarantine\n");
  fmt::print("{:<12} {:<12} {:<20} {:>5}  {}\n", "CLUSTER", "NODE", "UNTIL", "TIMES", "CAUSE");
  for (const auto& [cluster, node] : all) {
    fmt::print("{:<12} {:<12} {:<20} {:>5}  {}\n",
               cluster,
               node.node,
               format_utc(node.until),
               node.times,
               node.last.cause);
    fmt::print("  {}\n", printable(node.last.detail, 400));
    fmt::print(
        "  {} attempt {}\n", is_printable(node.last.run) ? node.last.run : "", node.last.attempt);
  }
}

Result<int> act(const NodesOptions& options) {
  const run::WallTime now = std::chrono::system_clock::now();
  const std::vector<std::string> clusters =
      options.cluster.empty() ? run::quarantine_clusters() : std::vector{options.cluster};
  DTS_ASSIGN(std::vector<ShownNode> all, look(clusters, now));
  if (!options.release.empty()) {
    DTS_TRY(release(options, all, now));
    if (!options.json) return 0;
    DTS_ASSIGN(all, look(clusters, now));
  }
  options.json ? print_json(all) : print_table(all);
  return 0;
}

}  // namespace

void add_nodes(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<NodesOptions>();
  CLI::App* verb = app.add_subcommand("nodes", "list the nodes in quarantine, why, and until when");
  verb->add_option("--cluster", options->cluster, "only this cluster [all]")->type_name("NAME");
  verb->add_option("--release", options->release, "release these, e.g. n3 or n[1-2]")
      ->type_name("LIST");
  verb->add_flag("--json", options->json, "one JSON document, schema dtsubmit/nodes/1");
  verb->callback(
      [options, &invocation] { invocation.action = [options] { return act(*options); }; });
}

}  // namespace dts::cli
