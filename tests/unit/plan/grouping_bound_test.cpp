// SPDX-License-Identifier: Apache-2.0
// The oracle of fair_near_test beside every assignment of GPUs to ranks, one after the other.
#include "tests/unit/plan/grouping_bound.hpp"

#include "tests/support/sanitized.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <random>

namespace dts::plan {
namespace {

constexpr unsigned k_groupings = tests::k_sanitized ? 8 : 100;

// Machines small enough to try every way.
class Small {
 public:
  explicit Small(unsigned seed) : random_(seed) {
    const unsigned numas = 1 + below(4), cores = 1 + below(12);
    for (unsigned core = 0; core < cores; ++core) {
      const unsigned numa = below(numas);
      node_.cores.push_back({numa / 2, numa, {}, {core}, below(8) == 0 ? 1U : 0U});
    }
    const unsigned gpus = 1 + below(6);
    for (unsigned gpu = 0; gpu < gpus; ++gpu) {
      const unsigned numa = below(numas);
      node_.gpus.push_back({"", numa / 2, numa, {}, {numa, 100 + below(3)}});
      if (below(8) == 0) node_.gpus.back().numa.reset();
      for (unsigned other = 0; other < gpu; ++other)
        if (below(6) == 0) node_.links.push_back({other, gpu, 1 + below(2)});
    }
    ranks_.resize(1 + below(gpus + 3));
    each_ = std::max<std::size_t>(1, cores / ranks_.size());
  }

  // In words of the oracle, and by trying.
  void compare() {
    Groupings groupings(node_, ranks_.size(), each_);
    give(0);
    if (ranks_.size() <= node_.gpus.size()) REQUIRE(groupings.least_apart() == *least_);
    const auto most = groupings.most_near(0);
    REQUIRE(most);
    REQUIRE(*most == most_);
  }

 private:
  unsigned below(unsigned limit) { return static_cast<unsigned>(random_() % limit); }

  // Each GPU to some rank or none; or each rank some GPU.
  void give(std::size_t number) {
    const std::size_t gpus = node_.gpus.size(), size = gpus / ranks_.size();
    if (number == std::max(gpus, ranks_.size())) return look();
    if (size == 0) {
      for (unsigned gpu = 0; gpu < gpus; ++gpu) {
        ranks_[number] = {gpu};
        give(number + 1);
      }
      ranks_[number].clear();
      return;
    }
    give(number + 1);
    for (auto& rank : ranks_) {
      if (rank.size() == size) continue;
      rank.push_back(static_cast<unsigned>(number));
      give(number + 1);
      rank.pop_back();
    }
  }

  void look() {
    const std::size_t size = node_.gpus.size() / ranks_.size();
    for (const auto& rank : ranks_)
      if (rank.size() < size) return;
    if (size == 0 && is_uneven()) return;
    const Apart found = size == 0 ? Apart{} : apart(node_, ranks_);
    if (least_ && *least_ < found) return;
    const std::size_t near = best_near(node_, ranks_, each_);
    most_ = least_ == found ? std::max(most_, near) : near;
    least_ = found;
  }

  [[nodiscard]] bool is_uneven() const {
    std::vector<std::size_t> users(node_.gpus.size(), 0);
    for (const auto& rank : ranks_) ++users[rank[0]];
    const auto [fewest, most] = std::minmax_element(users.begin(), users.end());
    return *most > *fewest + 1;
  }

  std::mt19937 random_;
  topo::NodeTopology node_;
  Groups ranks_;
  std::size_t each_ = 1;
  std::optional<Apart> least_;
  std::size_t most_ = 0;
};

}  // namespace

TEST_CASE("the best choice of GPUs by kinds is what trying every assignment gives") {
  for (unsigned seed = 0; seed < k_groupings; ++seed) {
    CAPTURE(seed);
    Small(seed).compare();
  }
}

}  // namespace dts::plan
