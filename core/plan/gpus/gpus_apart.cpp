// SPDX-License-Identifier: Apache-2.0
#include "core/plan/gpus/gpus_apart.hpp"

#include "core/base/text/alike.hpp"
#include "core/topo/distance.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

namespace dts::plan {
namespace {

unsigned crossing_of(topo::Path path) {
  switch (path) {
    case topo::Path::pix:
      return 0;
    case topo::Path::pxb:
      return 1;
    case topo::Path::phb:
    case topo::Path::node:
    case topo::Path::pkg:
      return 2;
    case topo::Path::sys:
      break;
  }
  return 3;
}

// A package, or several.
auto packages_of(const topo::Gpu& gpu) {
  return std::pair(gpu.package, gpu.package ? std::vector<unsigned>() : gpu.group);
}

// A NUMA node, or several.
auto numas_of(const topo::Gpu& gpu) {
  return std::pair(gpu.numa, gpu.group);
}

// The number of each GPU's part: the same for GPUs in the same part.
template <class PartOf>
std::vector<unsigned> number_parts(const topo::NodeTopology& node, const PartOf& part_of) {
  std::vector<unsigned> numbers(node.gpus.size());
  unsigned next = 0;
  for (const auto& [part, members] :
       group_alike(node.gpus.size(), [&](std::size_t gpu) { return part_of(node.gpus[gpu]); })) {
    for (const std::size_t gpu : members) numbers[gpu] = next;
    ++next;
  }
  return numbers;
}

// The number of parts, beyond one, that the GPUs are in.
unsigned further(const std::vector<unsigned>& part_of, const std::vector<unsigned>& gpus) {
  unsigned different = 0;
  for (auto gpu = gpus.begin(); gpu != gpus.end(); ++gpu)
    if (std::none_of(
            gpus.begin(), gpu, [&](unsigned other) { return part_of[other] == part_of[*gpu]; }))
      ++different;
  return different > 0 ? different - 1 : 0;
}

}  // namespace

int compare_ways(const GpusApart& a, const GpusApart& b) {
  if (a.packages != b.packages) return a.packages < b.packages ? -1 : 1;
  if (a.linked != b.linked) return a.linked > b.linked ? -1 : 1;
  if (a.crossings != b.crossings) return a.crossings < b.crossings ? -1 : 1;
  return 0;
}

int compare(const GroupingScore& a, const GroupingScore& b) {
  if (const int ways = compare_ways(a.apart, b.apart); ways != 0) return ways;
  const auto rest = [](const GroupingScore& worth) {
    return std::make_tuple(~worth.fewest_near, worth.apart.numas, worth.apart.paths);
  };
  return rest(a) < rest(b) ? -1 : rest(b) < rest(a) ? 1 : 0;
}

GpusApart& operator+=(GpusApart& a, const GpusApart& b) {
  a.packages += b.packages;
  a.linked += b.linked;
  a.crossings += b.crossings;
  a.numas += b.numas;
  a.paths += b.paths;
  return a;
}

GpuPairs::GpuPairs(const topo::NodeTopology& topology)
    : topology_(topology),
      gpus_(topology.gpus.size()),
      package_of_(number_parts(topology, packages_of)),
      numa_of_(number_parts(topology, numas_of)),
      linked_(gpus_ * gpus_, 0),
      paths_(gpus_ * gpus_, 0),
      crossings_(gpus_ * gpus_, 0) {
  for (unsigned a = 0; a < gpus_; ++a)
    for (unsigned b = 0; b < gpus_; ++b) {
      if (a == b) continue;
      const topo::Path path = topo::path(topology.gpus[a], topology.gpus[b]);
      paths_[a * gpus_ + b] = static_cast<unsigned>(path);
      crossings_[a * gpus_ + b] = crossing_of(path);
    }
  for (const topo::GpuLink& link : topology.links)
    linked_[link.a * gpus_ + link.b] = linked_[link.b * gpus_ + link.a] = link.weight;
}

unsigned GpuPairs::steps(unsigned a, unsigned b) const {
  const topo::Gpu &one = topology_.gpus[a], &other = topology_.gpus[b];
  if (package_of_[a] != package_of_[b]) return k_other_package;
  if (numa_of_[a] != numa_of_[b]) return 2;
  return one.l3 == other.l3 ? 0 : 1;
}

GpusApart GpuPairs::of(const std::vector<unsigned>& gpus) const {
  GpusApart apart;
  apart.packages = further(package_of_, gpus);
  apart.numas = further(numa_of_, gpus);
  for (std::size_t i = 0; i < gpus.size(); ++i)
    for (std::size_t j = i + 1; j < gpus.size(); ++j) {
      apart.linked += linked(gpus[i], gpus[j]);
      apart.crossings += crossing(gpus[i], gpus[j]);
      apart.paths += path(gpus[i], gpus[j]);
    }
  return apart;
}

}  // namespace dts::plan
