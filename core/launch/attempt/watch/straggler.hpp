// SPDX-License-Identifier: Apache-2.0
// Finds ranks that are slower than their peers, even though all of them step together. Pure.
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
  std::uint64_t own = 0;     // milliseconds of the rank's own work in a step, or of its save
  std::uint64_t others = 0;  // the median of its peers

  [[nodiscard]] double factor() const {
    return static_cast<double>(own) / static_cast<double>(others);
  }
};

// A rank becomes slow when its own work (or its save, once it has reported three) takes more than
// 1.5 times the median of all *other* reporting ranks, and 50 ms more. It stays slow until it is
// below 1.25 times that median. Each pace is a median over 20 steps already, so one slow moment
// names no rank. If more than half of the ranks are slow, none is named, because the program is
// like that. (NVIDIA's resiliency extension calls a GPU slow below 0.7 of its best or of its peers'
// pace, i.e. at 1.43 times the time. Falcon, arXiv 2410.12588, saw slow GPUs slow down their jobs
// by a factor of 1.34 on average, which cannot be distinguished from an unequal division of a
// step's work.)
class StragglerWatch {
 public:
  static constexpr double k_slow = 1.5;
  static constexpr double k_well = 1.25;
  static constexpr std::uint64_t k_least = 50;  // milliseconds; a busy node delays any rank by less
  static constexpr unsigned k_fewest_saves = 3;

  // Returns the ranks that became slow since the last call, each with the measure that shows it.
  // `recovered` receives the ranks that are no longer slow. Both are sorted by rank.
  [[nodiscard]] std::vector<Straggler> judge(const std::map<unsigned, Pace>& paces,
                                             std::vector<unsigned>& recovered);

 private:
  std::set<std::pair<unsigned, bool>> slow_;  // rank; true: slow in its save, not its work
};

}  // namespace dts::launch
