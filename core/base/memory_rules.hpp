// SPDX-License-Identifier: Apache-2.0
// What a site gives to a job that requests no memory, and limits that depend on its other requests.
#pragma once

#include <cstdint>

namespace dts {

// In MiB; 0: none. A job without a request and without a default gets all memory of its nodes.
struct MemoryRules {
  std::uint64_t default_mib = 0;  // of each node
  std::uint64_t default_per_cpu_mib = 0;
  std::uint64_t default_per_gpu_mib = 0;  // comes before the other two
  std::uint64_t max_per_cpu_mib = 0;      // a job that requests more gets more CPUs
  bool is_shared_out = false;             // jobs on a node get no more memory together than it has

  bool operator==(const MemoryRules&) const = default;
};

}  // namespace dts
