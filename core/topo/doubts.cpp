// SPDX-License-Identifier: Apache-2.0
#include "core/topo/doubts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace dts::topo {
namespace {

constexpr std::size_t k_suspicious = 4;  // two on one package exist, more hardly ever
constexpr const char* k_help = "if that is wrong, an override file can say where they are";

std::size_t packages(const NodeTopology& node) {
  std::set<unsigned> found;
  for (const auto* cores : {&node.cores, &node.closed})
    for (const Core& core : *cores) found.insert(core.package);
  return found.size();
}

// False if their package is unknown, which is plausible: in many virtual machines, one NUMA node
// spans all packages.
bool on_one_package(const std::vector<Gpu>& gpus) {
  return std::all_of(gpus.begin(), gpus.end(), [&](const Gpu& gpu) {
    return gpu.package && gpu.package == gpus[0].package;
  });
}

}  // namespace

std::vector<std::string> find_doubts(const NodeTopology& node) {
  std::vector<std::string> doubts;
  std::vector<std::string> homeless;
  for (const Gpu& gpu : node.gpus)
    if (!gpu.numa && !gpu.package && gpu.group.empty() && packages(node) > 1)
      homeless.push_back(gpu.pci);
  if (!homeless.empty())
    doubts.push_back(fmt::format(
        "no single NUMA node or package is known for {} of {} GPUs ({}): every core counts as "
        "near; an override file can say where they are",
        homeless.size(),
        node.gpus.size(),
        fmt::join(homeless, ", ")));
  else if (node.gpus.size() >= k_suspicious && on_one_package(node.gpus) && packages(node) > 1)
    doubts.push_back(fmt::format("all {} GPUs are attached to package {} of {}: {}",
                                 node.gpus.size(),
                                 node.gpus[0].package.value_or(0),
                                 packages(node),
                                 k_help));
  return doubts;
}

}  // namespace dts::topo
