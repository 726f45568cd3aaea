// SPDX-License-Identifier: Apache-2.0
#include "cli/output/topo_scene.hpp"

#include "cli/output/topo_fold.hpp"
#include "core/base/text/number_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>
#include <map>
#include <set>
#include <tuple>

namespace dts::cli {
namespace {

using topo::Core;
using topo::Device;
using topo::NodeTopology;
using topo::NumaNode;

// How `items` things are used, given each rank's `lists`.
std::vector<Use> uses_of(const plan::NodeBinding& binding,
                         std::size_t items,
                         std::initializer_list<std::vector<unsigned> plan::RankBinding::*> lists) {
  std::vector<Use> uses(items);
  for (unsigned rank = 0; rank < binding.ranks.size(); ++rank)
    for (const auto list : lists)
      for (const unsigned item : binding.ranks[rank].*list) {
        Use& use = uses.at(item);
        if (use.ranks.empty()) use.annex = list == &plan::RankBinding::annex;
        use.ranks.push_back(rank);
        use.everybody = use.ranks.size() > 1 && use.ranks.size() == binding.ranks.size();
      }
  return uses;
}

std::string in_words(const Core& core, const Use& use) {
  std::string words =
      fmt::format("{} {}", core.pus.size() > 1 ? "core of CPUs" : "CPU", fold_numbers(core.pus));
  if (use.closed) return words + ": not allowed";
  if (use.ranks.empty()) return words + ": unused";
  return words + fmt::format(": {} {}, {}",
                             use.ranks.size() > 1 ? "ranks" : "rank",
                             fold_numbers(use.ranks),
                             use.annex ? "annex" : "home");
}

// A core with the properties that decide where it is drawn.
struct Placed {
  const Core* core;
  Use use;
};

// Ordered by package, NUMA node (Linux's number), L3 and kind, with closed cores in between.
std::vector<Placed> all_cores(const NodeTopology& node, const plan::NodeBinding& binding) {
  std::vector<Use> uses =
      uses_of(binding, node.cores.size(), {&plan::RankBinding::home, &plan::RankBinding::annex});
  std::vector<Placed> all;
  for (std::size_t i = 0; i < node.cores.size(); ++i)
    all.push_back({&node.cores[i], std::move(uses[i])});
  for (const Core& core : node.closed) all.push_back({&core, {{}, false, true}});
  const auto place = [&](const Placed& placed) {
    const Core& core = *placed.core;
    return std::tuple(core.package,
                      topo::os_number(node, core.numa),
                      core.l3,
                      -static_cast<int>(core.kind),
                      core.pus);
  };
  std::stable_sort(all.begin(), all.end(), [&](const Placed& a, const Placed& b) {
    return place(a) < place(b);
  });
  return all;
}

// Properties of all cores together.
struct Habit {
  bool several_l3 = false;
  std::vector<std::string> kinds;  // names by number; empty if there is only one kind

  explicit Habit(const std::vector<Placed>& cores) {
    std::set<std::optional<unsigned>> l3;
    std::set<unsigned> found;
    for (const Placed& placed : cores) {
      l3.insert(placed.core->l3);
      found.insert(placed.core->kind);
    }
    several_l3 = l3.size() > 1;
    if (found.size() == 2) kinds = {"E", "P"};
    for (unsigned kind = 0; found.size() > 2 && kind <= *found.rbegin(); ++kind)
      kinds.push_back(fmt::format("k{}", kind));
  }

  [[nodiscard]] std::string kind(const Core& core) const {
    return kinds.empty() ? "" : kinds[std::min<std::size_t>(core.kind, kinds.size() - 1)];
  }
};

void add_core(ScenePackage& package, const Placed& placed, const Habit& habit) {
  const Core& core = *placed.core;
  if (package.numas.empty() || package.numas.back().index != core.numa)
    package.numas.push_back({core.numa, {}, {}, {}, {}, {}});
  auto& caches = package.numas.back().caches;
  const auto l3 = habit.several_l3 ? core.l3 : std::nullopt;
  const std::string kind = habit.kind(core);
  if (caches.empty() || caches.back().l3 != l3 || caches.back().kind != kind)
    caches.push_back({l3, kind, {}});
  caches.back().cores.push_back({core.pus.empty() ? 0 : core.pus.front(),
                                 static_cast<unsigned>(core.pus.size()),
                                 placed.use,
                                 in_words(core, placed.use)});
}

// Including those that only have memory or devices, as in a file written in a job that has cores in
// other packages only.
std::set<unsigned> packages_of(const NodeTopology& node) {
  std::set<unsigned> found;
  for (const auto* cores : {&node.cores, &node.closed})
    for (const Core& core : *cores) found.insert(core.package);
  for (const NumaNode& numa : node.numas)
    if (numa.package) found.insert(*numa.package);
  for (const auto* devices : {&node.gpus, &node.nics})
    for (const Device& device : *devices)
      if (device.package) found.insert(*device.package);
  return found;
}

// Where to draw a device, or memory without cores.
struct Spot {
  ScenePackage* package = nullptr;
  SceneNuma* numa = nullptr;
};

class Packages {
 public:
  explicit Packages(Scene& scene) : scene_(scene) {}

  ScenePackage& get(unsigned package) {
    const auto [found, is_new] = place_.try_emplace(package, scene_.packages.size());
    if (is_new) scene_.packages.push_back({{package}, {}, {}, {}, {}});
    return scene_.packages[found->second];
  }

  Spot find(std::optional<unsigned> package, std::optional<unsigned> numa) {
    const auto found = package ? place_.find(*package) : place_.end();
    if (found == place_.end()) return {};
    Spot spot{&scene_.packages[found->second]};
    for (SceneNuma& one : spot.package->numas)
      if (one.index == numa) spot.numa = &one;
    return spot;
  }

 private:
  Scene& scene_;
  std::map<unsigned, std::size_t> place_;
};

void add_devices(Scene& scene,
                 Packages& packages,
                 const NodeTopology& node,
                 const std::vector<Device>& devices,
                 const std::function<SceneDevice(unsigned)>& make) {
  for (unsigned i = 0; i < devices.size(); ++i) {
    const Spot spot = packages.find(devices[i].package, devices[i].numa);
    auto& list = spot.numa != nullptr      ? spot.numa->devices
                 : spot.package != nullptr ? spot.package->devices
                                           : scene.devices;
    list.push_back(make(i));
    list.back().pci = devices[i].pci;
    if (!devices[i].group.empty())
      list.back().name +=
          fmt::format(" at NUMA {}", fold_numbers(os_numbers(node, devices[i].group)));
    if (devices[i].part > 0) list.back().pci += fmt::format("#{}", devices[i].part);
  }
}

void add_devices(Scene& scene,
                 Packages& packages,
                 const NodeTopology& node,
                 const std::vector<unsigned>& gpus,
                 const plan::NodeBinding& binding) {
  std::vector<Use> of_gpus = uses_of(binding, node.gpus.size(), {&plan::RankBinding::gpus});
  const auto of_nics = uses_of(binding, node.nics.size(), {&plan::RankBinding::nics});
  add_devices(scene, packages, node, node.gpus, [&](unsigned i) {
    of_gpus[i].closed = std::find(gpus.begin(), gpus.end(), i) == gpus.end();
    return SceneDevice{fmt::format("GPU {}", i), "", true, of_gpus[i]};
  });
  add_devices(scene, packages, node, node.nics, [&](unsigned i) {
    const std::string& name = node.nics[i].name;
    return SceneDevice{name.empty() ? fmt::format("NIC {}", i) : name, "", false, of_nics[i]};
  });
}

// Runs of NUMA nodes with equal memory, given by `indices`.
std::vector<std::string> memory_lines(const std::vector<unsigned>& indices,
                                      const std::vector<NumaNode>& numas) {
  std::vector<std::string> lines;
  for (std::size_t first = 0, end = 0; first < indices.size(); first = end) {
    const std::uint64_t bytes = numas[indices[first]].bytes;
    std::vector<unsigned> run;
    for (; end < indices.size() && numas[indices[end]].bytes == bytes; ++end)
      run.push_back(numas[indices[end]].os);
    std::string size = memory_in_words(bytes);
    if (!size.empty()) size = ": " + size + (run.size() > 1 ? " each" : "");
    lines.push_back(fmt::format("NUMA {}{}, no cores", fold_numbers(run), size));
  }
  return lines;
}

void add_memory(Scene& scene, Packages& packages, const std::vector<NumaNode>& numas) {
  std::map<ScenePackage*, std::vector<unsigned>> alone;
  for (unsigned i = 0; i < numas.size(); ++i) {
    bool has_cores = false;
    for (ScenePackage& package : scene.packages)
      for (SceneNuma& numa : package.numas)
        if (numa.index == i) {
          numa.size = numas[i].has_memory ? memory_in_words(numas[i].bytes) : "no memory";
          has_cores = true;
        }
    if (!has_cores) alone[packages.find(numas[i].package, std::nullopt).package].push_back(i);
  }
  for (auto& [package, indices] : alone) {
    std::sort(indices.begin(), indices.end(), [&](unsigned a, unsigned b) {
      return numas[a].os < numas[b].os;
    });
    (package != nullptr ? package->memory : scene.memory) = memory_lines(indices, numas);
  }
}

}  // namespace

Scene make_scene(const NodeTopology& node,
                 const std::vector<unsigned>& gpus,
                 const plan::NodeBinding& binding) {
  Scene scene;
  scene.ranks = static_cast<unsigned>(binding.ranks.size());
  Packages packages(scene);
  for (const unsigned package : packages_of(node)) packages.get(package);
  const std::vector<Placed> cores = all_cores(node, binding);
  const Habit habit(cores);
  for (const Placed& placed : cores) add_core(packages.get(placed.core->package), placed, habit);
  for (ScenePackage& package : scene.packages)
    for (SceneNuma& numa : package.numas) numa.numbers = {topo::os_number(node, numa.index)};
  add_devices(scene, packages, node, gpus, binding);
  add_memory(scene, packages, node.numas);
  fold_packages(scene.packages);
  for (ScenePackage& package : scene.packages) {
    package.title = fmt::format("Package{} {}{}",
                                package.numbers.size() > 1 ? "s" : "",
                                fold_numbers(package.numbers),
                                package.numas.empty() ? "  no cores" : "");
    for (SceneNuma& numa : package.numas) numa.title = title_of(numa);
  }
  return scene;
}

std::string ranks_in_words(const Use& use) {
  if (use.closed) return "x";
  if (use.ranks.empty()) return "-";
  return use.everybody ? "all" : "r" + fold_numbers(use.ranks);
}

std::string mark(const Use& use) {
  if (use.closed) return "x";
  if (use.ranks.empty()) return ".";
  if (use.everybody) return "*";
  const std::string ranks = fmt::format("{}{}", use.ranks.front(), use.ranks.size() > 1 ? "+" : "");
  return use.annex ? "(" + ranks + ")" : ranks;
}

std::string memory_in_words(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
  if (bytes == 0) return {};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1023.5 && unit + 1 < units.size(); ++unit) value /= 1024;
  return value < 10 && unit > 0 ? fmt::format("{:.1f} {}", value, units[unit])
                                : fmt::format("{:.0f} {}", value, units[unit]);
}

}  // namespace dts::cli
