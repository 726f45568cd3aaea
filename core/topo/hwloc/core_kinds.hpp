// SPDX-License-Identifier: Apache-2.0
// Hybrid processors: determines which cores are of one kind. Pure, thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace dts::topo {

// Cores with the same description by firmware and kernel.
struct CoreSort {
  std::string type;                    // "IntelAtom"; empty: none
  std::optional<unsigned> capacity{};  // the kernel's cpu_capacity; the fastest core has 1024
  int efficiency = -1;                 // hwloc's rank, higher is faster; -1: none
};

// The kind of each sort: 0 is the slowest. Sorts of one type form one kind if successive capacities
// never differ by more than a fifth: cores of one design differ by a few percent (binning, maximum
// frequency, distance to memory), designs by a third or more (the kernel's
// Documentation/scheduler/sched-capacity.rst).
[[nodiscard]] std::vector<unsigned> kinds_of(const std::vector<CoreSort>& sorts);

}  // namespace dts::topo
