// SPDX-License-Identifier: Apache-2.0
// Which cores count as near the GPUs of a rank. Pure, thread-safe.
#pragma once

#include "core/topo/topology.hpp"

#include <vector>

namespace dts::plan {

// A core is near a rank if it is of the node's fastest kind and in the NUMA node of at least one of
// the rank's GPUs, or in the larger part of the node that this GPU is attached to. For a rank
// without GPUs, all cores of the fastest kind are near.
class NearCores {
 public:
  explicit NearCores(const topo::NodeTopology& topology);  // which must outlive it

  // `gpus` and `core`: indices into NodeTopology::gpus and cores.
  [[nodiscard]] bool contain(const std::vector<unsigned>& gpus, unsigned core) const;

  [[nodiscard]] unsigned fastest_kind() const { return fastest_; }

 private:
  const topo::NodeTopology& topology_;
  unsigned fastest_ = 0;
};

}  // namespace dts::plan
