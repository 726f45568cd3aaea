// SPDX-License-Identifier: Apache-2.0
#include "core/topo/sysfs/sysfs.hpp"

#include "core/base/files/files.hpp"
#include "core/base/text/number_list.hpp"
#include "core/base/text/text.hpp"

#include <algorithm>
#include <map>

namespace dts::topo {
namespace {

// nullopt if there is no such file, or it does not hold a non-negative number: an unknown NUMA node
// is -1.
std::optional<unsigned> read_number(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return {};
  const auto number = parse_number(trim(*text));
  return number && *number <= k_highest_cpu ? std::optional(static_cast<unsigned>(*number))
                                            : std::nullopt;
}

std::vector<unsigned> read_list(const std::string& path) {
  const auto text = read_file(path);
  return text ? parse_number_list(trim(*text), k_highest_cpu).value_or(std::vector<unsigned>{})
              : std::vector<unsigned>{};
}

// In bytes, from "Node 0 MemTotal:  8148176 kB".
std::uint64_t read_memory(const std::string& path) {
  const std::string text = read_file(path).value_or("");
  constexpr std::string_view k_total = "MemTotal:";
  const std::size_t at = text.find(k_total);
  if (at == std::string::npos) return 0;
  const std::string_view rest = trim(std::string_view(text).substr(at + k_total.size()));
  return parse_number(rest.substr(0, rest.find(' '))).value_or(0) * 1024;
}

// The index of each processor's NUMA node; fills `numas`.
std::map<unsigned, unsigned> read_numas(const std::string& system, std::vector<NumaNode>& numas) {
  std::map<unsigned, unsigned> numa_of;
  for (const unsigned os : read_list(system + "/node/online")) {
    const std::string folder = system + "/node/node" + std::to_string(os);
    NumaNode numa;
    numa.os = os;
    numa.bytes = read_memory(folder + "/meminfo");
    numa.has_memory = numa.bytes > 0;
    const std::vector<unsigned> cpus = read_list(folder + "/cpulist");
    numa.has_cores = !cpus.empty();
    for (const unsigned cpu : cpus) numa_of[cpu] = static_cast<unsigned>(numas.size());
    numas.push_back(numa);
  }
  if (numas.empty()) numas.emplace_back();  // a kernel without NUMA
  return numa_of;
}

// Every online core with all of its processors.
std::vector<Core> read_cores(const std::string& system, std::vector<NumaNode>& numas) {
  const std::map<unsigned, unsigned> numa_of = read_numas(system, numas);
  std::vector<Core> cores;
  std::map<std::vector<unsigned>, std::size_t> known;
  std::map<unsigned, unsigned> packages;  // from the kernel's numbers to 0, 1, ...
  for (const unsigned cpu : read_list(system + "/cpu/online")) {
    const std::string folder = system + "/cpu/cpu" + std::to_string(cpu) + "/topology/";
    std::vector<unsigned> siblings = read_list(folder + "thread_siblings_list");
    if (siblings.empty()) siblings = {cpu};
    const auto [at, fresh] = known.try_emplace(siblings, cores.size());
    if (fresh) {
      const unsigned number = read_number(folder + "physical_package_id").value_or(0);
      const auto package =
          packages.try_emplace(number, static_cast<unsigned>(packages.size())).first->second;
      const auto numa = numa_of.find(cpu);
      Core& core = cores.emplace_back();
      core.package = package;
      core.numa = numa == numa_of.end() ? 0 : numa->second;
      NumaNode& place = numas[core.numa];
      if (!place.package) place.package = package;
    }
    cores[at->second].pus.push_back(cpu);
  }
  return cores;
}

}  // namespace

Result<NodeTopology> read_sysfs(const std::string& system, const std::vector<unsigned>& allowed) {
  NodeTopology node;
  for (Core& core : read_cores(system, node.numas)) {
    std::vector<unsigned> usable;
    std::copy_if(core.pus.begin(), core.pus.end(), std::back_inserter(usable), [&](unsigned cpu) {
      return std::binary_search(allowed.begin(), allowed.end(), cpu);
    });
    if (usable.empty()) {
      node.closed.push_back(core);
      continue;
    }
    core.pus = usable;
    node.cores.push_back(core);
  }
  // As with hwloc, the cores of a NUMA node are neighbours.
  std::stable_sort(node.cores.begin(), node.cores.end(), [](const Core& a, const Core& b) {
    return std::pair(a.package, a.numa) < std::pair(b.package, b.numa);
  });
  if (node.cores.empty())
    return fail(Errc::invalid,
                system + " shows no processor that may be used",
                "is /sys mounted? otherwise build dtsubmit with hwloc");
  node.notes.emplace_back(
      "this dtsubmit was built without hwloc: shared caches, network adapters and GPUs other than "
      "NVIDIA's are unknown");
  return node;
}

NodeTopology with_places(NodeTopology node, const std::string& devices) {
  for (Gpu& gpu : node.gpus) {
    if (gpu.numa || gpu.pci.empty()) continue;
    const auto os = read_number(devices + "/" + gpu.pci + "/numa_node");
    for (unsigned i = 0; os && i < node.numas.size(); ++i)
      if (node.numas[i].os == *os) gpu.numa = i;
    if (gpu.numa) gpu.package = node.numas[*gpu.numa].package;
  }
  return node;
}

}  // namespace dts::topo
