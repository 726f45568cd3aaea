// SPDX-License-Identifier: Apache-2.0
#include "core/plan/gpus/gpus_alike.hpp"

#include "core/plan/cores/share_nics.hpp"
#include "core/topo/distance.hpp"

#include <algorithm>

namespace dts::plan {
namespace {

// Paths to the adapters, regardless of which adapter each path leads to, so that four GPUs with one
// adapter each are equivalent.
std::vector<topo::Path> ways_to_nics(const topo::NodeTopology& topology,
                                     const std::vector<unsigned>& nics,
                                     unsigned gpu) {
  std::vector<topo::Path> ways;
  for (const unsigned nic : nics)
    ways.push_back(topo::path(topology.gpus[gpu], topology.nics[nic]));
  std::sort(ways.begin(), ways.end());
  return ways;
}

}  // namespace

std::vector<std::size_t> alike_gpus(const topo::NodeTopology& topology,
                                    const GpuPairs& pairs,
                                    const std::vector<unsigned>& gpus) {
  const std::vector<unsigned> nics = compute_nics(topology);
  std::vector<std::vector<topo::Path>> ways;
  for (const unsigned gpu : gpus) ways.push_back(ways_to_nics(topology, nics, gpu));
  const auto are_alike = [&](std::size_t a, std::size_t b) {
    return pairs.steps(gpus[a], gpus[b]) == 0 && ways[a] == ways[b] &&
           std::all_of(gpus.begin(), gpus.end(), [&](unsigned other) {
             return other == gpus[a] || other == gpus[b] ||
                    (pairs.linked(gpus[a], other) == pairs.linked(gpus[b], other) &&
                     pairs.path(gpus[a], other) == pairs.path(gpus[b], other));
           });
  };
  std::vector<std::size_t> first_of(gpus.size());
  for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu) {
    first_of[gpu] = gpu;
    for (std::size_t first = 0; first < gpu && first_of[gpu] == gpu; ++first)
      if (first_of[first] == first && are_alike(first, gpu)) first_of[gpu] = first;
  }
  return first_of;
}

}  // namespace dts::plan
