// SPDX-License-Identifier: Apache-2.0
// How far apart the GPUs of a rank are. Pure, thread-safe.
#pragma once

#include "core/topo/topology.hpp"

#include <cstddef>
#include <vector>

namespace dts::plan {

// Sums over ranks. What GPUs talk over comes first: packages, links, switches.
struct GpusApart {
  unsigned packages = 0;   // that a rank's GPUs lie in, beyond one
  unsigned linked = 0;     // weights of links between GPUs of one rank: the more, the better
  unsigned crossings = 0;  // GpuPairs::crossing() of each two GPUs of one rank
  unsigned numas = 0;      // NUMA nodes that a rank's GPUs lie in, beyond one
  unsigned paths = 0;      // topo::Path of each two GPUs of one rank
};

// Negative where what the GPUs of `a` talk over is shorter, 0 where it is as short: packages, links
// and crossings, in this order. NUMA nodes and paths come later, after near cores.
[[nodiscard]] int compare_ways(const GpusApart& a, const GpusApart& b);

GpusApart& operator+=(GpusApart& a, const GpusApart& b);

// The paths between the GPUs of a node, looked up once.
class GpuPairs {
 public:
  explicit GpuPairs(const topo::NodeTopology& topology);  // which must outlive it

  [[nodiscard]] unsigned linked(unsigned a, unsigned b) const { return linked_[a * gpus_ + b]; }

  [[nodiscard]] unsigned path(unsigned a, unsigned b) const { return paths_[a * gpus_ + b]; }

  // Where the paths of two GPUs meet: 0 one switch, 1 several, 2 a processor, 3 two processors.
  // Within a processor it does not matter whether they are attached to one host bridge or two, or
  // whether the firmware makes it one NUMA node or several (SNC, NPS).
  [[nodiscard]] unsigned crossing(unsigned a, unsigned b) const {
    return crossings_[a * gpus_ + b];
  }

  static constexpr unsigned k_other_package = 3;

  // How near two GPUs are: 0 in one L3, 1 in one NUMA node, 2 in one package, 3 otherwise.
  [[nodiscard]] unsigned steps(unsigned a, unsigned b) const;

  // The sum over the GPUs of one rank.
  [[nodiscard]] GpusApart of(const std::vector<unsigned>& gpus) const;

 private:
  const topo::NodeTopology& topology_;
  std::size_t gpus_;
  std::vector<unsigned> linked_, paths_, crossings_;  // of each two, by row
};

}  // namespace dts::plan
