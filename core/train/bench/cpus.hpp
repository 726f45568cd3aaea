// SPDX-License-Identifier: Apache-2.0
// The processors that this process may use, and threads on them. Reads /proc and /sys; thread-safe.
#pragma once

#include "core/train/bench/core_time.hpp"

#include <functional>
#include <string>
#include <vector>

namespace dts::train::bench {

// One processor of each physical core that sched_getaffinity(2) allows, in order; never empty.
[[nodiscard]] std::vector<int> own_cores();

// The model of the first processor, for people and to tell nodes apart; "unknown" if nobody says.
[[nodiscard]] std::string processor_model();

// Those of `cores` that belong to each NUMA node that has any, with the node's number.
struct NumaCores {
  int numa = 0;
  std::vector<int> cores;
};

[[nodiscard]] std::vector<NumaCores> by_numa(const std::vector<int>& cores);

// The size of the largest cache in bytes, of all its instances together as far as `cores` use them;
// 0 if unknown.
[[nodiscard]] std::size_t largest_cache(const std::vector<int>& cores);

// Processor time allowed by the control groups, of both versions, in processors; 0 if unlimited.
// What is less than the cores is not seen in short windows.
[[nodiscard]] double cpu_quota();

// Whether that is less than own_cores().
[[nodiscard]] bool is_limited();

// The calling thread on one processor, as long as this lives.
class OnCore {
 public:
  explicit OnCore(int core);
  OnCore(const OnCore&) = delete;
  OnCore& operator=(const OnCore&) = delete;
  ~OnCore();

 private:
  std::vector<int> before_;  // where it was allowed to run
};

// Calls work(i), which returns the time that it spent measuring, on a thread that is bound to
// cores[i], for all of them at once. Returns the share of the time that they wanted, 0 to 1, that
// other programs and a hypervisor had; under a quota only the hypervisor's part.
double on_each(const std::vector<int>& cores, const std::function<CoreTime(std::size_t)>& work);

// "other programs had 93 % of the processors' time", for a note on what could not be measured.
[[nodiscard]] std::string taken(double others);

}  // namespace dts::train::bench
