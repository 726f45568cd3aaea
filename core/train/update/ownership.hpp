// SPDX-License-Identifier: Apache-2.0
// Which rank keeps and updates which chunks of the grid. The grid is cut into buckets, whose sums
// travel one after another, and every bucket is divided among all owners, so that each owner always
// has something to send and to receive, and links are used in both directions. The bits of the
// result do not depend on it. Pure, thread-safe.
#pragma once

#include "core/train/update/chunk_grid.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace dts::train {

// The ranks that keep and update the parameters: all ranks, or some, spread evenly, as the servers
// of a parameter server (M. Li et al., "Scaling Distributed Machine Learning with the Parameter
// Server", OSDI 2014).
struct Owners {
  int ranks = 1;
  int servers = 1;  // 1 to `ranks`

  [[nodiscard]] int rank_of(int server) const {
    return static_cast<int>(std::int64_t{server} * ranks / servers);
  }

  // nullopt if that rank is not a server.
  [[nodiscard]] std::optional<int> server_at(int rank) const;
};

class Ownership {
 public:
  // `bucket_bytes` is the size of a bucket's gradients, which has at least one chunk; 0: one bucket
  // for all. `grid` must outlive this.
  Ownership(const ChunkGrid& grid, Owners owners, std::size_t bucket_bytes);

  [[nodiscard]] int ranks() const { return owners_.ranks; }

  [[nodiscard]] int buckets() const { return static_cast<int>(buckets_.size()); }

  // The chunks of a bucket; buckets are in the order of the grid.
  [[nodiscard]] Span bucket(int index) const { return buckets_[static_cast<std::size_t>(index)]; }

  // The chunks of bucket `index` that `rank` owns: a contiguous run, empty if it owns none.
  [[nodiscard]] Span owned(int rank, int index) const;

  // The floats of owned(), by rank.
  [[nodiscard]] std::vector<Range> slices(int index) const;

  // The floats that `rank` owns, bucket by bucket, without empty ranges.
  [[nodiscard]] std::vector<Range> runs_of(int rank) const;

  // The floats of each bucket, in the order in which their gradients are handed over: from the last
  // parameters to the first, as a backward pass completes them.
  [[nodiscard]] std::vector<Range> bucket_ranges() const;

  // The rank that owns `chunk`.
  [[nodiscard]] int owner(int chunk) const;

  [[nodiscard]] std::size_t chunks_of(int rank) const;
  [[nodiscard]] std::size_t floats_of(int rank) const;

  // The offset of each bucket in an array of what `rank` owns, bucket after bucket.
  [[nodiscard]] std::vector<std::size_t> begins_of(int rank) const;

  // Copies the values of the chunks that `rank` owns from an array of all chunks, and back.
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
