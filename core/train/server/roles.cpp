// SPDX-License-Identifier: Apache-2.0
#include "core/train/server/roles.hpp"

#include <algorithm>

namespace dts::train {

Roles::Roles(const Layout& layout, Owners owners, const Hierarchy& hierarchy, int shards)
    : slices_(Ownership(ChunkGrid(layout), owners, 0).slices(0)), shards_(shards) {
  for (int node = 0; node < hierarchy.nodes(); ++node) {
    std::vector<int> ranks;
    for (const int rank : hierarchy.ranks_of(node))
      (owners.server_at(rank) ? servers_ : ranks).push_back(rank);
    computing_.insert(computing_.end(), ranks.begin(), ranks.end());
    if (!ranks.empty()) workers_.push_back(std::move(ranks));
  }
  std::sort(servers_.begin(), servers_.end());
}

std::optional<std::size_t> Roles::worker_of(int rank) const {
  for (std::size_t worker = 0; worker < workers_.size(); ++worker)
    if (std::find(workers_[worker].begin(), workers_[worker].end(), rank) != workers_[worker].end())
      return worker;
  return std::nullopt;
}

Span Roles::shards_of_rank(int rank) const {
  const auto place = std::find(computing_.begin(), computing_.end(), rank) - computing_.begin();
  return part_of({0, shards_}, static_cast<int>(computing_.size()), static_cast<int>(place));
}

Span Roles::shards_of(std::size_t worker) const {
  const std::vector<int>& ranks = workers_[worker];
  return {shards_of_rank(ranks.front()).lo, shards_of_rank(ranks.back()).hi};
}

}  // namespace dts::train
