// SPDX-License-Identifier: Apache-2.0
// How far apart the GPUs of a rank are. Pure, thread-safe.
#pragma once

#include "core/topo/topology.hpp"

#include <cstddef>
#include <vector>

namespace dts::plan {

// Sums over ranks; what comes first counts before all that follows.
struct GpusApart {
  unsigned packages = 0;  // that a rank's GPUs lie in, beyond one
  unsigned numas = 0;     // the same of NUMA nodes
  unsigned linked = 0;    // weights of links between GPUs of one rank: the more, the better
  unsigned paths = 0;     // topo::Path of each two GPUs of one rank

  bool operator==(const GpusApart&) const = default;
};

// True where the GPUs of `a` are nearer each other.
[[nodiscard]] bool operator<(const GpusApart& a, const GpusApart& b);

GpusApart& operator+=(GpusApart& a, const GpusApart& b);

// What is between the GPUs of a node, looked up once.
class GpuPairs {
 public:
  explicit GpuPairs(const topo::NodeTopology& topology);  // which is to outlive it

  [[nodiscard]] unsigned linked(unsigned a, unsigned b) const { return linked_[a * gpus_ + b]; }

  [[nodiscard]] unsigned path(unsigned a, unsigned b) const { return paths_[a * gpus_ + b]; }

  // How near two GPUs are: 0 in one L3, 1 in one NUMA node, 2 in one package, 3 otherwise.
  [[nodiscard]] unsigned steps(unsigned a, unsigned b) const;

  // Of one rank's.
  [[nodiscard]] GpusApart of(const std::vector<unsigned>& gpus) const;

 private:
  const topo::NodeTopology& topology_;
  std::size_t gpus_;
  std::vector<unsigned> linked_, paths_;  // of each two, by row
};

}  // namespace dts::plan
