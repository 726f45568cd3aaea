// SPDX-License-Identifier: Apache-2.0
// Parts of a node that ranks may share: NUMA nodes, L3s or adapters. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dts::plan {

// Counts the users of parts while ranks acquire and release items in them. Each add() is O(1).
class Parts {
 public:
  // `part_of`: the number of the part that each item belongs to.
  Parts(std::vector<std::size_t> part_of, std::size_t ranks);

  // Gives the rank `count` units of the item; a negative count takes them away.
  void add(std::size_t rank, std::size_t item, int count);

  [[nodiscard]] std::int64_t sum() const { return sum_; }  // parts per rank, summed

  [[nodiscard]] std::int64_t squares() const { return squares_; }  // of each part's users, summed

  [[nodiscard]] std::int64_t shared() const { return shared_; }  // parts with more than one rank

  [[nodiscard]] bool is_split(std::size_t rank) const { return of_rank_[rank] > 1; }

  [[nodiscard]] bool shares(std::size_t rank) const;

 private:
  std::vector<std::size_t> part_of_;
  std::vector<std::int64_t> users_;    // by part
  std::vector<std::vector<int>> has_;  // by rank and part
  std::vector<int> of_rank_;           // number of parts in which the rank has items
  std::int64_t sum_ = 0, squares_ = 0, shared_ = 0;
};

}  // namespace dts::plan
