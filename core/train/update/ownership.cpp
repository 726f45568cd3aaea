// SPDX-License-Identifier: Apache-2.0
#include "core/train/update/ownership.hpp"

namespace dts::train {

std::optional<int> Owners::server_at(int rank) const {
  // The first server at or after this rank.
  const auto server = static_cast<int>((std::int64_t{rank} * servers + ranks - 1) / ranks);
  return server < servers && rank_of(server) == rank ? std::optional(server) : std::nullopt;
}

Ownership::Ownership(const ChunkGrid& grid, Owners owners, std::size_t bucket_bytes)
    : grid_(grid), owners_(owners) {
  const auto most = bucket_bytes / sizeof(float);
  // From the end, where gradients are handed over first, so that only the bucket at the beginning
  // is not full.
  for (int end = grid.count(); end > 0;) {
    int begin = bucket_bytes == 0 ? 0 : end - 1;
    while (begin > 0 && grid.floats_of({begin - 1, end}).size() <= most) --begin;
    buckets_.push_back({begin, end});
    end = begin;
  }
  std::reverse(buckets_.begin(), buckets_.end());
}

Span Ownership::owned(int rank, int index) const {
  const Span all = bucket(index);
  const auto server = owners_.server_at(rank);
  return server ? part_of(all, owners_.servers, *server) : Span{all.lo, all.lo};
}

std::vector<Range> Ownership::slices(int index) const {
  std::vector<Range> all;
  for (int rank = 0; rank < ranks(); ++rank) all.push_back(grid_.floats_of(owned(rank, index)));
  return all;
}

std::vector<Range> Ownership::runs_of(int rank) const {
  std::vector<Range> all;
  for (int index = 0; index < buckets(); ++index)
    if (const Range own = grid_.floats_of(owned(rank, index)); own.size() > 0) all.push_back(own);
  return all;
}

std::vector<Range> Ownership::bucket_ranges() const {
  std::vector<Range> all;
  for (int index = buckets() - 1; index >= 0; --index)
    all.push_back(grid_.floats_of(bucket(index)));
  return all;
}

int Ownership::owner(int chunk) const {
  const auto in =
      std::upper_bound(buckets_.begin(), buckets_.end(), chunk, [](int one, const Span& all) {
        return one < all.hi;
      });
  return owners_.rank_of(owner_in(*in, owners_.servers, chunk));
}

std::size_t Ownership::chunks_of(int rank) const {
  std::size_t sum = 0;
  for (int index = 0; index < buckets(); ++index)
    sum += static_cast<std::size_t>(owned(rank, index).size());
  return sum;
}

std::vector<std::size_t> Ownership::begins_of(int rank) const {
  std::vector<std::size_t> begins;
  std::size_t at = 0;
  for (int index = 0; index < buckets(); ++index) {
    begins.push_back(at);
    at += grid_.floats_of(owned(rank, index)).size();
  }
  return begins;
}

std::size_t Ownership::floats_of(int rank) const {
  std::size_t sum = 0;
  for (int index = 0; index < buckets(); ++index) sum += grid_.floats_of(owned(rank, index)).size();
  return sum;
}

}  // namespace dts::train
