// SPDX-License-Identifier: Apache-2.0
// The processors that this process may use, and threads on them. Reads /proc and /sys; thread-safe.
#pragma once

#include "core/train/bench/core_time.hpp"

#include <functional>
#include <string>
#include <vector>

namespace dts::train::bench {

// One processor of each physical core in sched_getaffinity(2), in ascending order; never empty.
[[nodiscard]] std::vector<int> own_cores();

// The model of the first processor, for messages and to compare nodes; "unknown" if not reported.
[[nodiscard]] std::string processor_model();

// The cores of one NUMA node.
struct NumaCores {
  int numa = 0;
  std::vector<int> cores;
};

[[nodiscard]] std::vector<NumaCores> by_numa(const std::vector<int>& cores);

// The size of the largest cache in bytes, added up over the instances that `cores` use; 0 if
// unknown.
[[nodiscard]] std::size_t largest_cache(const std::vector<int>& cores);

// The processor time that the control groups allow (versions 1 and 2), in processors; 0 if
// unlimited. A limit below the number of cores does not show in short windows.
[[nodiscard]] double cpu_quota();

// Whether that is less than the number of own_cores().
[[nodiscard]] bool is_limited();

// Binds the calling thread to one processor during its lifetime.
class OnCore {
 public:
  explicit OnCore(int core);
  OnCore(const OnCore&) = delete;
  OnCore& operator=(const OnCore&) = delete;
  ~OnCore();

 private:
  std::vector<int> before_;  // processors that it was allowed to use
};

// Calls work(i), which returns the time that its measurement took, at once on one thread per core,
// bound to cores[i]. Returns the share, 0 to 1, of the wanted processor time that other programs
// and a hypervisor took; with a quota, only the hypervisor's share.
double on_each(const std::vector<int>& cores, const std::function<CoreTime(std::size_t)>& work);

// "other programs had 93 % of the processors' time", for notes on failed measurements.
[[nodiscard]] std::string taken(double others);

}  // namespace dts::train::bench
