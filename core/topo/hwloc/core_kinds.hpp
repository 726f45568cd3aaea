// SPDX-License-Identifier: Apache-2.0
// Hybrid processors: which cores are of one kind. Pure, thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace dts::topo {

// Cores with the same description by the firmware and the kernel.
struct CoreSort {
  std::string type;                    // "IntelAtom"; empty: none
  std::optional<unsigned> capacity{};  // the kernel's cpu_capacity, 1024 the fastest core's
  int efficiency = -1;                 // hwloc's rank, more is faster; -1: none
};

// By sort, the number of its kind: 0 the slowest. One kind are sorts of one type whose capacities
// follow each other with no step of more than a fifth: cores of one design differ by a few percent
// (binning, the highest frequency, the way to memory), designs by a third and more (the kernel's
// Documentation/scheduler/sched-capacity.rst).
[[nodiscard]] std::vector<unsigned> kinds_of(const std::vector<CoreSort>& sorts);

}  // namespace dts::topo
