// SPDX-License-Identifier: Apache-2.0
// A node and its ranks as JSON.
#include "cli/output/topo_report.hpp"
#include "core/base/text/json_text.hpp"
#include "core/plan/binding/binding.hpp"
#include "core/plan/cores/fabric.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <set>

namespace dts::cli {
namespace {

using nlohmann::ordered_json;

ordered_json or_null(const std::optional<unsigned>& index) {
  return index ? ordered_json(*index) : ordered_json(nullptr);
}

// Linux's number for a NUMA node.
ordered_json numa_or_null(const topo::NodeTopology& node, const std::optional<unsigned>& numa) {
  return numa ? ordered_json(topo::os_number(node, *numa)) : ordered_json(nullptr);
}

ordered_json core_entry(const topo::NodeTopology& node, const topo::Core& core) {
  return {{"package", core.package},
          {"numa", topo::os_number(node, core.numa)},
          {"l3", or_null(core.l3)},
          {"kind", core.kind},
          {"cpus", core.pus}};
}

ordered_json cores(const topo::NodeTopology& node, const std::vector<topo::Core>& list) {
  ordered_json entries = ordered_json::array();
  for (const topo::Core& core : list) entries.push_back(core_entry(node, core));
  return entries;
}

ordered_json device_entry(const topo::NodeTopology& node, const topo::Device& device) {
  return {{"pci", device.pci},
          {"part", device.part},
          {"name", device.name},
          {"package", or_null(device.package)},
          {"numa", numa_or_null(node, device.numa)},
          {"l3", or_null(device.l3)},
          {"group", topo::os_numbers(node, device.group)},
          {"bridges", device.bridges}};
}

ordered_json gpu_entries(const topo::NodeTopology& node) {
  ordered_json entries = ordered_json::array();
  for (const topo::Gpu& gpu : node.gpus) {
    entries.push_back(device_entry(node, gpu));
    entries.back()["uuid"] = gpu.uuid;
    entries.back()["instances"] = gpu.instances;
    entries.back()["model"] = gpu.model;
  }
  return entries;
}

// An unknown speed is null.
ordered_json nic_entries(const TopoReport& report) {
  const topo::NodeTopology& node = report.node;
  constexpr const char* k_links[] = {"unknown", "up", "down"};
  const auto gbps = [](unsigned speed) { return speed > 0 ? ordered_json(speed) : nullptr; };
  std::set<unsigned> used;
  for (const plan::RankBinding& rank : report.binding.ranks)
    used.insert(rank.nics.begin(), rank.nics.end());
  ordered_json entries = ordered_json::array();
  for (unsigned i = 0; i < node.nics.size(); ++i) {
    const topo::Nic& nic = node.nics[i];
    entries.push_back(device_entry(node, nic));
    entries.back()["network"] = plan::to_string(nic.network);
    entries.back()["link"] = k_links[static_cast<unsigned>(nic.link)];
    entries.back()["gbps"] = gbps(nic.gbps);
    entries.back()["pci_gbps"] = gbps(nic.pci_gbps);
    entries.back()["used"] = used.contains(i);
  }
  return entries;
}

ordered_json node_entry(const TopoReport& report) {
  const topo::NodeTopology& node = report.node;
  ordered_json numas = ordered_json::array(), links = ordered_json::array();
  for (const topo::NumaNode& numa : node.numas)
    numas.push_back({{"os", numa.os},
                     {"package", or_null(numa.package)},
                     {"bytes", numa.bytes},
                     {"has_cores", numa.has_cores},
                     {"has_memory", numa.has_memory}});
  for (const topo::GpuLink& link : node.links)
    links.push_back({{"gpus", {link.a, link.b}}, {"weight", link.weight}});
  return {{"cores", cores(node, node.cores)},
          {"closed_cores", cores(node, node.closed)},
          {"numas", std::move(numas)},
          {"gpus", gpu_entries(node)},
          {"nics", nic_entries(report)},
          {"links", std::move(links)},
          {"doubts", node.doubts}};
}

// Rounded to a millionth: smaller digits depend on the order of additions.
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
                       {"numas", topo::os_numbers(report.node, rank.numas)},
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
                        {"node", node_entry(report)},
                        {"ranks", rank_entries(report)},
                        {"reasons", report.binding.reasons},
                        {"warnings", report.binding.warnings},
                        {"score", score_entry(report.binding.score)},
                        {"bound", score_entry(report.binding.bound)}};
  for (const PolicyScore& one : report.policies)
    document["policies"][one.policy] = score_entry(one.score);
  return json_text(document);
}

}  // namespace dts::cli
