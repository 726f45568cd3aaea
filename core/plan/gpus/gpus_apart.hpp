// SPDX-License-Identifier: Apache-2.0
// Measures how far apart the GPUs of a rank are. Pure, thread-safe.
#pragma once

#include "core/topo/topology.hpp"

#include <cstddef>
#include <vector>

namespace dts::plan {

// Sums over ranks, in order of importance: packages, links and switches on the path come first.
struct GpusApart {
  unsigned packages = 0;   // packages beyond one that a rank's GPUs are in
  unsigned linked = 0;     // weights of links between GPUs of one rank: the more, the better
  unsigned crossings = 0;  // GpuPairs::crossing() of each pair of a rank's GPUs
  unsigned numas = 0;      // NUMA nodes beyond one that a rank's GPUs are in
  unsigned paths = 0;      // topo::Path of each pair of a rank's GPUs
};

// Negative if the GPUs of `a` communicate over a shorter path, 0 if it is equal: packages, links
// and crossings, in this order. NUMA nodes and paths are compared later, after near cores.
[[nodiscard]] int compare_ways(const GpusApart& a, const GpusApart& b);

// The criteria by which ways to group GPUs are compared.
struct GroupingScore {
  GpusApart apart;
  std::size_t fewest_near = 0;  // near cores of the worst-off rank
};

// Negative if `a` is better: by compare_ways(), then by more near cores for the worst-off rank,
// then by fewer NUMA nodes and shorter paths.
[[nodiscard]] int compare(const GroupingScore& a, const GroupingScore& b);

GpusApart& operator+=(GpusApart& a, const GpusApart& b);

// The paths between the GPUs of a node, looked up once.
class GpuPairs {
 public:
  explicit GpuPairs(const topo::NodeTopology& topology);  // which must outlive it

  [[nodiscard]] unsigned linked(unsigned a, unsigned b) const { return linked_[a * gpus_ + b]; }

  [[nodiscard]] unsigned path(unsigned a, unsigned b) const { return paths_[a * gpus_ + b]; }

  // What the path between two GPUs crosses: 0 one switch, 1 several, 2 a processor, 3 two
  // processors. Within a processor, it makes no difference whether they are attached to one host
  // bridge or two, or whether the firmware presents it as one NUMA node or several (SNC, NPS).
  [[nodiscard]] unsigned crossing(unsigned a, unsigned b) const {
    return crossings_[a * gpus_ + b];
  }

  static constexpr unsigned k_other_package = 3;

  // How near two GPUs are: 0 in one L3, 1 in one NUMA node, 2 in one package, 3 otherwise.
  [[nodiscard]] unsigned steps(unsigned a, unsigned b) const;

  // The measures for the GPUs of one rank.
  [[nodiscard]] GpusApart of(const std::vector<unsigned>& gpus) const;

 private:
  const topo::NodeTopology& topology_;
  std::size_t gpus_;
  std::vector<unsigned> package_of_, numa_of_;        // of each GPU, numbered from 0
  std::vector<unsigned> linked_, paths_, crossings_;  // of each pair, row by row
};

}  // namespace dts::plan
