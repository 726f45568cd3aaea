// SPDX-License-Identifier: Apache-2.0
#include "core/plan/cores/parts.hpp"

#include <algorithm>

namespace dts::plan {

Parts::Parts(std::vector<std::size_t> part_of, std::size_t ranks)
    : part_of_(std::move(part_of)), of_rank_(ranks, 0) {
  const std::size_t parts =
      part_of_.empty() ? 0 : 1 + *std::max_element(part_of_.begin(), part_of_.end());
  users_.assign(parts, 0);
  has_.assign(ranks, std::vector<int>(parts, 0));
}

void Parts::add(std::size_t rank, std::size_t item, int count) {
  const std::size_t part = part_of_[item];
  const bool had_some = has_[rank][part] > 0;
  has_[rank][part] += count;
  if ((has_[rank][part] > 0) == had_some) return;
  const int step = had_some ? -1 : 1;
  of_rank_[rank] += step;
  sum_ += step;
  squares_ += 2 * step * users_[part] + 1;
  shared_ -= users_[part] > 1 ? 1 : 0;
  users_[part] += step;
  shared_ += users_[part] > 1 ? 1 : 0;
}

bool Parts::shares(std::size_t rank) const {
  for (std::size_t part = 0; part < users_.size(); ++part)
    if (users_[part] > 1 && has_[rank][part] > 0) return true;
  return false;
}

}  // namespace dts::plan
