// SPDX-License-Identifier: Apache-2.0
// The processors that this process may use, and threads on them. Reads /proc and /sys; thread-safe.
#pragma once

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

// Processor time allowed by the control groups, in processors; 0 if unlimited. What is less than
// the cores is not seen in short windows.
[[nodiscard]] double cpu_quota();

// Calls work(i) on a thread that is bound to cores[i], for all of them at once, with `stolen` of
// each thread's time taken away (stolen_time.hpp).
void on_each(const std::vector<int>& cores,
             double stolen,
             const std::function<void(std::size_t)>& work);

}  // namespace dts::train::bench
