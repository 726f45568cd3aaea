// SPDX-License-Identifier: Apache-2.0
#include "core/launch/attempt/watch/straggler.hpp"

#include "core/base/median.hpp"

#include <algorithm>
#include <functional>

namespace dts::launch {
namespace {

// The median of `sorted` without one element that equals `own`. `sorted` has at least two elements.
std::uint64_t median_of_others(const std::vector<std::uint64_t>& sorted, std::uint64_t own) {
  const auto mine = static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), own) -
                                             sorted.begin());
  const std::size_t middle = (sorted.size() - 1) / 2;
  return sorted[middle < mine ? middle : middle + 1];
}

struct OwnWork {
  unsigned rank;
  std::uint64_t own;
};

// One measure, of all ranks that report it.
class Comparison {
 public:
  void add(unsigned rank, std::uint64_t own) {
    if (own == 0) return;
    ranks_.push_back({rank, own});
    sorted_.push_back(own);
  }

  void compare(const std::function<void(const OwnWork&, std::uint64_t others)>& take) {
    if (ranks_.size() < 2) return;
    std::sort(sorted_.begin(), sorted_.end());
    for (const OwnWork& one : ranks_) take(one, median_of_others(sorted_, one.own));
  }

 private:
  std::vector<OwnWork> ranks_;
  std::vector<std::uint64_t> sorted_;
};

bool exceeds(std::uint64_t own, std::uint64_t others, double factor) {
  return static_cast<double>(own) > factor * static_cast<double>(others);
}

}  // namespace

std::vector<Straggler> StragglerWatch::judge(const std::map<unsigned, Pace>& paces,
                                             std::vector<unsigned>& recovered) {
  Comparison works, saves;
  std::vector<std::uint64_t> inputs;
  for (const auto& [rank, pace] : paces) {
    works.add(rank, pace.work);
    if (pace.work > 0) inputs.push_back(pace.input);
    if (pace.saves >= k_fewest_saves) saves.add(rank, pace.save);
  }
  const std::uint64_t usual_input = median(std::move(inputs));
  std::vector<Straggler> found;
  const auto take = [&](bool in_save, const OwnWork& one, std::uint64_t others) {
    const std::pair key(one.rank, in_save);
    if (slow_.count(key) != 0) {
      if (exceeds(one.own, others, k_well)) return;
      slow_.erase(key);
      recovered.push_back(one.rank);
    } else if (exceeds(one.own, others, k_slow) && one.own > others + k_least) {
      slow_.insert(key);
      const std::uint64_t input = paces.at(one.rank).input;
      const bool waits = input > usual_input && 2 * (input - usual_input) > one.own - others;
      const SlowPhase step = waits ? SlowPhase::input : SlowPhase::compute;
      found.push_back({one.rank, in_save ? SlowPhase::save : step, one.own, others});
    }
  };
  works.compare([&](const OwnWork& one, std::uint64_t others) { take(false, one, others); });
  saves.compare([&](const OwnWork& one, std::uint64_t others) { take(true, one, others); });
  return found;
}

}  // namespace dts::launch
