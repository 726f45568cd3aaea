// SPDX-License-Identifier: Apache-2.0
#include "core/plan/gpus/gpu_swaps.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace dts::plan {
namespace {

using Groups = std::vector<std::vector<unsigned>>;

constexpr std::size_t k_most_swap_looks = 20'000;

class Swaps {
 public:
  Swaps(const GpuPairs& pairs,
        const FewestNear& near,
        const std::vector<unsigned>& gpus,
        Groups groups)
      : pairs_(pairs), near_(near), groups_(std::move(groups)), left_(gpus) {
    for (const auto& group : groups_) {
      separations_.push_back(pairs_.of(group));
      for (const unsigned gpu : group) std::erase(left_, gpu);
    }
    best_ = {apart(), near_.of(groups_)};
  }

  Groups run() && {
    while (!is_over() && (swap_all() || rotate_all())) {
    }
    for (auto& group : groups_) std::sort(group.begin(), group.end());
    std::sort(groups_.begin(), groups_.end());
    return std::move(groups_);
  }

 private:
  // Positions in a group: one or two.
  using Places = std::vector<std::size_t>;

  [[nodiscard]] GpusApart apart() const {
    GpusApart sum;
    for (const GpusApart& one : separations_) sum += one;
    return sum;
  }

  // Group number groups_.size() stands for the GPUs that are in no group.
  std::vector<unsigned>& members(std::size_t group) {
    return group < groups_.size() ? groups_[group] : left_;
  }

  bool swap_all() {
    bool better = false;
    // Swaps among groups of a single GPU would change nothing.
    const bool are_single = groups_.front().size() == 1;
    for (std::size_t a = 0; a < groups_.size(); ++a)
      for (std::size_t b = are_single ? groups_.size() : a + 1; b <= groups_.size(); ++b)
        better = swap_between(a, b) || better;
    return better;
  }

  static std::vector<Places> places_in(const std::vector<unsigned>& group, std::size_t count) {
    std::vector<Places> all;
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (count == 1) all.push_back({i});
      for (std::size_t j = i + 1; j < group.size() && count == 2; ++j) all.push_back({i, j});
    }
    return all;
  }

  // Swaps one GPU for one, or two for two, which may be linked.
  bool swap_between(std::size_t a, std::size_t b) {
    bool better = false;
    for (const std::size_t count : {1, 2})
      for (const Places& from : places_in(members(a), count))
        for (const Places& to : places_in(members(b), count)) {
          if (is_over()) return better;
          const auto swap = [&] {
            for (std::size_t i = 0; i < count; ++i)
              std::swap(members(a)[from[i]], members(b)[to[i]]);
          };
          better = attempt({a, b}, swap, swap) || better;
        }
    return better;
  }

  // Rotates one GPU each of three groups, or of two groups and the free GPUs, in both directions.
  bool rotate_all() {
    if (groups_.front().size() == 1) return false;
    for (std::size_t a = 0; a < groups_.size(); ++a)
      for (std::size_t b = a + 1; b < groups_.size(); ++b)
        for (std::size_t c = b + 1; c <= groups_.size(); ++c)
          if (rotate(a, b, c)) return true;
    return false;
  }

  bool rotate(std::size_t a, std::size_t b, std::size_t c) {
    for (unsigned& x : groups_[a])
      for (unsigned& y : groups_[b])
        for (unsigned& z : members(c)) {
          if (is_over()) return false;
          const auto on = [&] { x = std::exchange(y, std::exchange(z, x)); };
          const auto back = [&] { z = std::exchange(y, std::exchange(x, z)); };
          if (attempt({a, b, c}, on, back) || attempt({a, b, c}, back, on)) return true;
        }
    return false;
  }

  [[nodiscard]] bool is_over() const { return looks_ >= k_most_swap_looks; }

  // Takes the step if the groups become better. `changed`: the groups that it changes.
  bool attempt(std::initializer_list<std::size_t> changed,
               const std::function<void()>& step,
               const std::function<void()>& undo) {
    ++looks_;
    step();
    const std::vector<GpusApart> before = separations_;
    for (const std::size_t group : changed)
      if (group < groups_.size()) separations_[group] = pairs_.of(groups_[group]);
    GroupingScore worth{apart(), best_.fewest_near};
    if (compare_ways(worth.apart, best_.apart) <= 0) {
      worth.fewest_near = near_.of(groups_);
      if (compare(worth, best_) < 0) {
        best_ = worth;
        return true;
      }
    }
    separations_ = before;
    undo();
    return false;
  }

  const GpuPairs& pairs_;
  const FewestNear& near_;
  Groups groups_;
  std::vector<unsigned> left_;
  std::vector<GpusApart> separations_;  // of each group
  GroupingScore best_;
  std::size_t looks_ = 0;
};

}  // namespace

Groups swap_gpus(const GpuPairs& pairs,
                 const FewestNear& near,
                 const std::vector<unsigned>& gpus,
                 Groups groups) {
  return Swaps(pairs, near, gpus, std::move(groups)).run();
}

}  // namespace dts::plan
