// SPDX-License-Identifier: Apache-2.0
#include "cli/output/topo_report.hpp"

#include "core/base/text/number_list.hpp"
#include "core/base/text/text.hpp"
#include "core/plan/cores/share_cores.hpp"
#include "core/plan/cores/share_nics.hpp"
#include "core/topo/distance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace dts::cli {
namespace {

using plan::BindingScore;
using plan::RankBinding;

std::string or_dash(std::string words) {
  return words.empty() ? "-" : words;
}

// The rank's CPUs that belong to `cores`.
std::string cpus_of(const TopoReport& report,
                    const RankBinding& rank,
                    const std::vector<unsigned>& cores) {
  std::vector<unsigned> cpus;
  for (const unsigned core : cores)
    for (const unsigned pu : report.node.cores.at(core).pus)
      if (std::binary_search(rank.cpus.begin(), rank.cpus.end(), pu)) cpus.push_back(pu);
  std::sort(cpus.begin(), cpus.end());
  return or_dash(fold_numbers(cpus));
}

std::string nic_names(const TopoReport& report, const RankBinding& rank) {
  std::vector<std::string> names;
  for (const unsigned nic : rank.nics) {
    const std::string& name = report.node.nics.at(nic).name;
    names.push_back(name.empty() ? fmt::format("NIC {}", nic) : name);
  }
  return or_dash(join(names, ","));
}

// The path to each adapter, in order; only one if all are equal.
std::string paths_of(const TopoReport& report, const RankBinding& rank) {
  std::vector<std::string> paths;
  for (const unsigned nic : rank.nics)
    paths.emplace_back(
        topo::to_string(static_cast<topo::Path>(plan::nic_distance(report.node, rank, nic))));
  if (std::set<std::string>(paths.begin(), paths.end()).size() == 1) paths.resize(1);
  return or_dash(join(paths, ","));
}

// Averages over `cores` and the rank's GPUs.
double distance_of(const TopoReport& report,
                   const RankBinding& rank,
                   const std::vector<unsigned>& cores) {
  std::int64_t sum = 0;
  for (const unsigned core : cores) sum += plan::mean_distance(report.node, rank.gpus, core);
  return static_cast<double>(sum) / static_cast<double>(plan::k_unit) /
         static_cast<double>(std::max<std::size_t>(1, cores.size()));
}

std::string distances_of(const TopoReport& report, const RankBinding& rank) {
  if (rank.gpus.empty()) return "-";
  std::vector<unsigned> all = rank.home;
  all.insert(all.end(), rank.annex.begin(), rank.annex.end());
  const std::string home = fmt::format("{:.2f}", distance_of(report, rank, rank.home));
  const std::string mean = fmt::format("{:.2f}", distance_of(report, rank, all));
  return home == mean ? home : fmt::format("{} (all {})", home, mean);
}

std::string counted(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

const std::vector<Metric>& metrics() {
  using S = const BindingScore&;
  static const std::vector<Metric> all{
      {"shared_cores", "cores of several ranks", [](S s) { return double(s.shared_cores); }, true},
      {"fewest_cores", "cores of a rank, fewest", [](S s) { return double(s.fewest_cores); }, true},
      {"most_cores", "cores of a rank, most", [](S s) { return double(s.most_cores); }, true},
      {"unused_cores", "cores not used", [](S s) { return double(s.unused_cores); }, true},
      {"gpu_packages", "GPUs: further packages", [](S s) { return double(s.gpu_packages); }, true},
      {"linked", "links within ranks", [](S s) { return double(s.linked); }, true},
      {"gpu_crossings",
       "GPUs: switches and CPUs",
       [](S s) { return double(s.gpu_crossings); },
       true},
      {"fewest_near",
       "near cores, fewest",
       [](S s) { return s.near_cores.empty() ? 0.0 : double(s.near_cores.front()); },
       true},
      {"gpu_numas", "GPUs: further NUMA nodes", [](S s) { return double(s.gpu_numas); }, true},
      {"gpu_paths", "PCI paths within ranks", [](S s) { return double(s.gpu_paths); }, true},
      {"home_distance", "distance, 4 nearest cores", [](S s) { return s.home_distance; }, false},
      {"mean_distance", "distance of all cores", [](S s) { return s.mean_distance; }, false},
      {"farthest_home", "4 nearest, worst rank", [](S s) { return s.farthest_home; }, false},
      {"worst_distance", "distance, worst", [](S s) { return double(s.worst_distance); }, true},
      {"nic_distance", "distance to the NIC", [](S s) { return s.nic_distance; }, false},
      {"nic_load", "ranks on a NIC, most", [](S s) { return double(s.nic_load); }, true},
      {"package_span", "packages of a rank, sum", [](S s) { return double(s.package_span); }, true},
      {"shared_l3", "L3s of several ranks", [](S s) { return double(s.shared_l3); }, true},
      {"numa_load", "ranks on NUMA node, most", [](S s) { return double(s.numa_load); }, true},
      {"numa_span", "NUMA nodes of a rank, sum", [](S s) { return double(s.numa_span); }, true}};
  return all;
}

std::string in_words(const Metric& metric, const BindingScore& score) {
  return metric.whole ? fmt::format("{:.0f}", metric.of(score))
                      : fmt::format("{:.2f}", metric.of(score));
}

bool is_telling(const Metric& metric, const std::vector<PolicyScore>& scores) {
  return std::any_of(scores.begin(), scores.end(), [&](const PolicyScore& one) {
    return metric.of(one.score) != 0;
  });
}

std::vector<RankRow> rank_rows(const TopoReport& report) {
  std::vector<RankRow> rows;
  for (std::size_t i = 0; i < report.binding.ranks.size(); ++i) {
    const RankBinding& rank = report.binding.ranks[i];
    rows.push_back({std::to_string(i),
                    cpus_of(report, rank, rank.home),
                    cpus_of(report, rank, rank.annex),
                    or_dash(fold_numbers(rank.gpus)),
                    nic_names(report, rank),
                    distances_of(report, rank),
                    paths_of(report, rank)});
  }
  return rows;
}

std::string summary(const TopoReport& report) {
  std::set<unsigned> packages, numas;
  std::size_t cpus = 0;
  for (const auto* list : {&report.node.cores, &report.node.closed})
    for (const topo::Core& core : *list) {
      packages.insert(core.package);
      numas.insert(core.numa);
      cpus += core.pus.size();
    }
  const std::size_t cores = report.node.cores.size() + report.node.closed.size();
  std::string words = fmt::format("{}, {}, {}",
                                  counted(packages.size(), "package"),
                                  counted(numas.size(), "NUMA node"),
                                  counted(cores, "core"));
  if (cpus != cores) words += fmt::format(" ({} CPUs)", cpus);
  if (!report.node.closed.empty())
    words += fmt::format(", {} of them not allowed", report.node.closed.size());
  words += fmt::format(
      ", {}, {}", counted(report.node.gpus.size(), "GPU"), counted(report.node.nics.size(), "NIC"));
  return words + ": " + report.machine;
}

std::string request_in_words(const TopoReport& report) {
  std::string words = counted(report.binding.ranks.size(), "rank");
  if (report.gpus.size() != report.node.gpus.size())
    words += report.gpus.empty() ? ", no GPU" : ", GPUs " + fold_numbers(report.gpus);
  return words + ", --bind " + report.bind;
}

std::vector<std::string> wrapped_list(const std::string& list, std::size_t width) {
  std::vector<std::string> lines{""};
  const std::vector<std::string> entries = split(list, ',');
  for (std::size_t i = 0; i < entries.size(); ++i) {
    std::string entry = entries[i] + (i + 1 < entries.size() ? "," : "");
    if (!lines.back().empty() && lines.back().size() + entry.size() > width) lines.emplace_back();
    for (; lines.back().size() + entry.size() > width; entry.erase(0, width)) {
      lines.back() = entry.substr(0, width);
      lines.emplace_back();
    }
    lines.back() += entry;
  }
  if (lines.size() > 1 && lines.back().empty()) lines.pop_back();
  return lines;
}

}  // namespace dts::cli
