// SPDX-License-Identifier: Apache-2.0
// A node and its ranks for programs.
#include "cli/output/topo_report.hpp"
#include "core/topo/distance.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

namespace dts::cli {
namespace {

using nlohmann::ordered_json;

ordered_json or_null(const std::optional<unsigned>& index) {
  return index ? ordered_json(*index) : ordered_json(nullptr);
}

ordered_json core_entry(const topo::Core& core) {
  return {{"package", core.package},
          {"numa", core.numa},
          {"l3", or_null(core.l3)},
          {"kind", core.kind},
          {"cpus", core.pus}};
}

ordered_json cores(const std::vector<topo::Core>& list) {
  ordered_json entries = ordered_json::array();
  for (const topo::Core& core : list) entries.push_back(core_entry(core));
  return entries;
}

ordered_json devices(const std::vector<topo::Device>& list) {
  ordered_json entries = ordered_json::array();
  for (const topo::Device& device : list)
    entries.push_back({{"pci", device.pci},
                       {"part", device.part},
                       {"name", device.name},
                       {"package", or_null(device.package)},
                       {"numa", or_null(device.numa)},
                       {"l3", or_null(device.l3)},
                       {"bridges", device.bridges},
                       {"ethernet", device.ethernet},
                       {"uuid", device.uuid},
                       {"instances", device.instances}});
  return entries;
}

ordered_json node_entry(const topo::NodeTopology& node) {
  ordered_json numas = ordered_json::array(), links = ordered_json::array();
  for (const topo::NumaNode& numa : node.numas)
    numas.push_back({{"os", numa.os},
                     {"package", or_null(numa.package)},
                     {"bytes", numa.bytes},
                     {"has_cores", numa.has_cores}});
  for (const topo::GpuLink& link : node.links)
    links.push_back({{"gpus", {link.a, link.b}}, {"weight", link.weight}});
  return {{"cores", cores(node.cores)},
          {"closed_cores", cores(node.closed)},
          {"numas", std::move(numas)},
          {"gpus", devices(node.gpus)},
          {"nics", devices(node.nics)},
          {"links", std::move(links)},
          {"doubts", node.doubts}};
}

// To a millionth: below that, the order of additions shows.
ordered_json score_entry(const plan::BindingScore& score) {
  ordered_json entry;
  for (const Metric& metric : metrics()) {
    const double value = metric.of(score);
    entry[metric.key] = metric.whole ? ordered_json(static_cast<unsigned>(value))
                                     : ordered_json(std::round(value * 1e6) / 1e6);
  }
  return entry;
}

ordered_json rank_entries(const TopoReport& report) {
  ordered_json entries = ordered_json::array();
  for (std::size_t i = 0; i < report.binding.ranks.size(); ++i) {
    const plan::RankBinding& rank = report.binding.ranks[i];
    entries.push_back({{"rank", i},
                       {"home_cores", rank.home},
                       {"annex_cores", rank.annex},
                       {"cpus", rank.cpus},
                       {"numas", rank.numas},
                       {"gpus", rank.gpus},
                       {"nics", rank.nics},
                       {"score", score_entry(plan::score(report.node, {rank}))}});
  }
  return entries;
}

}  // namespace

std::string to_json(const TopoReport& report) {
  ordered_json document{{"schema", "dtsubmit/topo/1"},
                        {"machine", report.machine},
                        {"bind", report.bind},
                        {"gpus", report.gpus},
                        {"node", node_entry(report.node)},
                        {"ranks", rank_entries(report)},
                        {"reasons", report.binding.reasons},
                        {"warnings", report.binding.warnings},
                        {"score", score_entry(report.binding.score)},
                        {"bound", score_entry(report.binding.bound)}};
  for (const PolicyScore& one : report.policies)
    document["policies"][one.policy] = score_entry(one.score);
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace dts::cli
