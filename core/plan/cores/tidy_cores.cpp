// SPDX-License-Identifier: Apache-2.0
#include "core/plan/cores/tidy_cores.hpp"

#include "core/base/text/alike.hpp"
#include "core/plan/cores/parts.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <numeric>

namespace dts::plan {
namespace {

constexpr unsigned k_most_core_looks = 4'000;  // about 0.1 us each
constexpr std::size_t k_few_ranks = 16;        // up to which moves between three ranks are tried

// The number of the NUMA node or L3 of each group.
template <class Part>
std::vector<std::size_t> parts_of(const std::vector<CoreGroup>& groups, Part CoreGroup::*part) {
  const auto parts =
      group_alike(groups.size(), [&](std::size_t group) { return groups[group].*part; });
  std::vector<std::size_t> part_of(groups.size());
  for (std::size_t number = 0; number < parts.size(); ++number)
    for (const std::size_t group : parts[number].members) part_of[group] = number;
  return part_of;
}

// The ranks, and after them a placeholder whose cores are free and cost nothing.
class Tidying {
 public:
  explicit Tidying(CoreShares& shares)
      : shares_(shares),
        nobody_(shares.counts.size()),
        packages_(parts_of(shares.groups, &CoreGroup::package), nobody_),
        numas_(parts_of(shares.groups, &CoreGroup::numa), nobody_),
        l3s_(parts_of(shares.groups, &CoreGroup::l3), nobody_),
        has_(nobody_ + 1, std::vector<int>(shares.groups.size(), 0)),
        groups_(nobody_ + 1, 0),
        total_(nobody_ + 1, 0),
        near_(nobody_, 0),
        home_(nobody_, 0) {
    for (std::size_t group = 0; group < shares.groups.size(); ++group)
      has_[nobody_][group] = static_cast<int>(shares.groups[group].cores.size());
    for (const auto& counts : shares.counts)
      most_ = std::max(most_, std::accumulate(counts.begin(), counts.end(), std::int64_t{1}));
    unfair_ = static_cast<std::int64_t>(nobody_) * most_ * most_;
    for (std::size_t rank = 0; rank < nobody_; ++rank) {
      auto& order = nearest_first_.emplace_back(shares.groups.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return shares.reaches[rank][a].distance < shares.reaches[rank][b].distance;
      });
      for (std::size_t group = 0; group < shares.groups.size(); ++group)
        move(nobody_, rank, group, static_cast<int>(shares.counts[rank][group]));
      count_home(rank);
    }
  }

  void run() {
    cost_ = cost();
    for (bool again = true; again;) {
      again = false;
      for (std::size_t a = 0; a < nobody_ && looks_ < k_most_core_looks; ++a)
        for (std::size_t b = a + 1; b <= nobody_; ++b) again = improve(a, b) || again;
    }
    for (std::size_t rank = 0; rank < nobody_; ++rank)
      shares_.counts[rank].assign(has_[rank].begin(), has_[rank].end());
  }

 private:
  // The criteria to minimise, in lexicographic order.
  using Cost = std::array<std::int64_t, 10>;

  [[nodiscard]] Cost cost() const {
    return {-*std::min_element(near_.begin(), near_.end()),
            home_sum_,
            unfair_,
            distance_sum_,
            *std::max_element(home_.begin(), home_.end()),
            packages_.sum(),
            l3s_.shared(),
            numas_.squares(),
            numas_.sum(),
            l3s_.sum()};
  }

  void move(std::size_t from, std::size_t to, std::size_t group, int cores) {
    const auto add = [&](std::size_t rank, int more) {
      const bool had_some = has_[rank][group] > 0;
      has_[rank][group] += more;
      groups_[rank] += (has_[rank][group] > 0 ? 1 : 0) - (had_some ? 1 : 0);
      total_[rank] += more;
      if (rank == nobody_) return;
      packages_.add(rank, group, more);
      numas_.add(rank, group, more);
      l3s_.add(rank, group, more);
      const Reach& reach = shares_.reaches[rank][group];
      distance_sum_ += reach.distance * more;
      if (!reach.is_far) add_near(rank, more);
    };
    add(from, -cores);
    add(to, cores);
  }

  // The sum of squares of the near cores that ranks lack is minimal for the fairest division, like
  // any sum of convex functions, since the feasible allocations form a polymatroid.
  void add_near(std::size_t rank, int more) {
    unfair_ -= (most_ - near_[rank]) * (most_ - near_[rank]);
    near_[rank] += more;
    unfair_ += (most_ - near_[rank]) * (most_ - near_[rank]);
  }

  void count_home(std::size_t rank) {
    if (rank == nobody_) return;
    std::int64_t sum = 0;
    auto left = static_cast<int>(shares_.home_cores);
    for (const std::size_t group : nearest_first_[rank]) {
      const int cores = std::min(left, has_[rank][group]);
      sum += shares_.reaches[rank][group].distance * cores;
      if ((left -= cores) == 0) break;
    }
    home_sum_ += sum - home_[rank];
    home_[rank] = sum;
  }

  struct Step {
    std::size_t from, to, group;
    int cores;
  };

  // Takes all steps together, if they lower the cost.
  bool attempt(std::initializer_list<Step> steps) {
    if (looks_ == k_most_core_looks) return false;
    ++looks_;
    const auto go = [&](bool back) {
      for (const auto& [from, to, group, cores] : steps)
        move(from, to, group, back ? -cores : cores);
      for (const Step& step : steps)
        for (const std::size_t rank : {step.from, step.to}) count_home(rank);
    };
    go(false);
    const Cost after = cost();
    const bool better = after < cost_;
    if (better)
      cost_ = after;
    else
      go(true);
    return better;
  }

  // Exchanges cores of one group for the same number of another.
  bool exchange(std::size_t a, std::size_t b) {
    bool better = false;
    for (std::size_t g = 0; g < shares_.groups.size() && looks_ < k_most_core_looks; ++g)
      for (std::size_t h = 0; h < shares_.groups.size() && has_[a][g] > 0; ++h) {
        const int both = std::min(has_[a][g], has_[b][h]);
        if (g != h && both > 0) better = attempt({{a, b, g, both}, {b, a, h, both}}) || better;
      }
    return better;
  }

  // Passes on the one core that `a` has more than `b`, directly or by way of a third rank.
  bool pass_on(std::size_t a, std::size_t b) {
    if (total_[a] != total_[b] + 1) return false;
    for (std::size_t g = 0; g < shares_.groups.size(); ++g) {
      if (has_[a][g] == 0) continue;
      if (attempt({{a, b, g, 1}})) return true;
      for (std::size_t c = 0; c < nobody_ && nobody_ <= k_few_ranks; ++c)
        for (std::size_t h = 0; h < shares_.groups.size(); ++h)
          if (c != a && c != b && has_[c][h] > 0 && attempt({{a, c, g, 1}, {c, b, h, 1}}))
            return true;
    }
    return false;
  }

  bool improve(std::size_t a, std::size_t b) {
    if (looks_ == k_most_core_looks) return false;  // further attempts have no effect
    if (b == nobody_) return exchange(a, b);
    const bool alike = total_[a] == total_[b] && groups_[a] == 1 && groups_[b] == 1;
    if (alike || (!is_untidy(a) && !is_untidy(b))) return false;
    const bool exchanged = exchange(a, b);
    return pass_on(a, b) || pass_on(b, a) || exchanged;
  }

  [[nodiscard]] bool is_untidy(std::size_t rank) const {
    return numas_.is_split(rank) || l3s_.shares(rank);
  }

  CoreShares& shares_;
  const std::size_t nobody_;
  Parts packages_, numas_, l3s_;
  std::vector<std::vector<int>> has_;                    // by rank and group
  std::vector<int> groups_, total_;                      // groups and cores by rank
  std::vector<std::int64_t> near_;                       // near cores by rank
  std::vector<std::int64_t> home_;                       // distances of home cores by rank
  std::vector<std::vector<std::size_t>> nearest_first_;  // groups by rank
  std::int64_t most_ = 0;                                // most cores of a rank, plus one
  std::int64_t unfair_ = 0, home_sum_ = 0, distance_sum_ = 0;
  Cost cost_{};
  unsigned looks_ = 0;
};

}  // namespace

void tidy_cores(CoreShares& shares) {
  Tidying(shares).run();
}

}  // namespace dts::plan
