// SPDX-License-Identifier: Apache-2.0
// Which rank keeps and updates which chunks of the grid. The grid is cut into buckets, whose sums
// travel one after the other, and every bucket is divided among the owners: so each of them has
// something to send and to receive at any time, and the links are used in both directions. Bits do
// not depend on it. Pure, thread-safe.
#pragma once

#include "core/train/update/chunk_grid.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace dts::train {

// The ranks that keep and update the parameters: every rank, or, as the servers of a parameter
// server (M. Li et al., "Scaling Distributed Machine Learning with the Parameter Server", OSDI
// 2014), some of them, spread evenly.
struct Owners {
  int ranks = 1;
  int servers = 1;  // 1 to `ranks`

  [[nodiscard]] int rank_of(int server) const {
    return static_cast<int>(std::int64_t{server} * ranks / servers);
  }

  // nullopt: that rank is none.
  [[nodiscard]] std::optional<int> server_at(int rank) const;
};

class Ownership {
 public:
  // `bucket_bytes` of gradients in a bucket, at least a chunk; 0: all in one. `grid` must outlive
  // it.
  Ownership(const ChunkGrid& grid, Owners owners, std::size_t bucket_bytes);

  [[nodiscard]] int ranks() const { return owners_.ranks; }

  [[nodiscard]] int buckets() const { return static_cast<int>(buckets_.size()); }

  // The chunks of a bucket; the buckets are in the order of the grid.
  [[nodiscard]] Span bucket(int index) const { return buckets_[static_cast<std::size_t>(index)]; }

  // Those of a bucket that `rank` owns: a contiguous run within it, empty if it is no owner.
  [[nodiscard]] Span owned(int rank, int index) const;

  // The floats of owned() of each rank.
  [[nodiscard]] std::vector<Range> slices(int index) const;

  // Those of `rank`, of one bucket after the other, but for empty ones.
  [[nodiscard]] std::vector<Range> runs_of(int rank) const;

  // The floats of each bucket, in the order in which their gradients leave: from the last
  // parameters to the first, as a backward pass completes them.
  [[nodiscard]] std::vector<Range> leaving() const;

  // The rank that owns `chunk`.
  [[nodiscard]] int owner(int chunk) const;

  [[nodiscard]] std::size_t chunks_of(int rank) const;
  [[nodiscard]] std::size_t floats_of(int rank) const;

  // Of the floats that `rank` owns, one bucket after the other, where those of each bucket begin.
  [[nodiscard]] std::vector<std::size_t> begins_of(int rank) const;

  // The values of the chunks that `rank` owns, out of those of all, and back.
  template <class T>
  void pick(int rank, const T* by_chunk, T* picked) const {
    for (int index = 0; index < buckets(); ++index) {
      const Span chunks = owned(rank, index);
      picked = std::copy_n(by_chunk + chunks.lo, chunks.size(), picked);
    }
  }

  template <class T>
  void put(int rank, const T* picked, T* by_chunk) const {
    for (int index = 0; index < buckets(); ++index) {
      const Span chunks = owned(rank, index);
      std::copy_n(picked, chunks.size(), by_chunk + chunks.lo);
      picked += chunks.size();
    }
  }

 private:
  const ChunkGrid& grid_;
  Owners owners_;
  std::vector<Span> buckets_;
};

}  // namespace dts::train
