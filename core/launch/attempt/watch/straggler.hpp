// SPDX-License-Identifier: Apache-2.0
// Which ranks are slower than their peers, although all step together. Pure.
#pragma once

#include "core/launch/wire/pace.hpp"
#include "core/run/event/slow_phase.hpp"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace dts::launch {

using run::SlowPhase;

struct Straggler {
  unsigned rank = 0;
  SlowPhase phase = SlowPhase::compute;
  std::uint64_t own = 0;     // milliseconds of its work in a step, or of its save
  std::uint64_t others = 0;  // their median

  [[nodiscard]] double factor() const {
    return static_cast<double>(own) / static_cast<double>(others);
  }
};

// A rank is slow while its own work (or its save, once it has reported three) takes more than 1.5
// times the median of all *other* ranks that report, and 50 ms more; until it is below 1.25 times
// that. Each pace is a median over 20 steps already, so one slow moment names no rank. If more than
// half of the ranks are slow, none is named: the program is like that. (NVIDIA's resiliency
// extension calls a GPU slow below 0.7 of its best or of its peers' pace, 1.43 times the time;
// Falcon, arXiv 2410.12588, saw slow GPUs cost their jobs a factor of 1.34 in the mean, which a
// rule for one step's work cannot tell from unequal shares of it.)
class StragglerWatch {
 public:
  static constexpr double k_slow = 1.5;
  static constexpr double k_well = 1.25;
  static constexpr std::uint64_t k_least = 50;  // milliseconds; what a busy node does to any rank
  static constexpr unsigned k_fewest_saves = 3;

  // The ranks that became slow since the last call, each with the measure in which it is slow;
  // `recovered` receives those that are no longer slow. By rank.
  [[nodiscard]] std::vector<Straggler> judge(const std::map<unsigned, Pace>& paces,
                                             std::vector<unsigned>& recovered);

 private:
  std::set<std::pair<unsigned, bool>> slow_;  // whether in its save
};

}  // namespace dts::launch
