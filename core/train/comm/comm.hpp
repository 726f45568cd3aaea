// SPDX-License-Identifier: Apache-2.0
// The ranks of the job, over MPI. Every non-trivial function is collective: all ranks call it in
// the same order. Waiting never spins (MPI's own waits do), since several ranks may share a core.
// Not thread-safe: only one thread of a process may use it.
#pragma once

#include "core/base/result.hpp"
#include "core/train/comm/tree.hpp"
#include "core/train/device/buffer.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace dts::train {

// The result all ranks agree on: 0, or the code of the lowest rank with a non-zero code.
struct Verdict {
  int code = 0;
  int rank = 0;  // whose code it is
};

class Comm {
 public:
  // MPI_Init_thread; at most one per process. Works under mpirun, srun and standalone (one rank).
  Comm();
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;
  ~Comm();  // MPI_Finalize

  [[nodiscard]] int rank() const { return rank_; }

  [[nodiscard]] int size() const { return size_; }

  [[nodiscard]] int node_size() const { return node_size_; }  // ranks on this node

  [[nodiscard]] bool first_on_node() const { return node_root_ == rank_; }

  [[nodiscard]] Verdict agree(int code);
  [[nodiscard]] std::int64_t sum(std::int64_t value);
  [[nodiscard]] int least(int value);
  // `value` of every rank, in the order of ranks.
  [[nodiscard]] std::vector<std::uint64_t> gather(std::uint64_t value);
  void broadcast(void* data, std::size_t bytes);  // from rank 0
  void barrier();

  // Memory shared by the ranks of a node, initially zero; lives as long as the Comm. Every rank of
  // a node must pass the same size. Only first_on_node() may write, and a barrier must follow.
  // Errc::io concerns this rank alone: agree() on it.
  [[nodiscard]] Result<std::byte*> node_memory(std::size_t bytes);

  // The sum over all `shards` of arrays of `floats` elements (a multiple of 16), added in tree
  // order; each rank passes the partials of its own run of shards. Bit-identical on every rank, for
  // any number of ranks. Rank r sums slice r and sends it to the others (reduce-scatter, then
  // all-gather). The result is valid until the next call; the partials are overwritten.
  [[nodiscard]] const float* tree_sum(int shards, std::size_t floats, const Partials& mine);

 private:
  struct Mpi;  // keeps mpi.h out of this header
  void reduce_slice(int shards, std::size_t floats, const Partials& mine);
  void gather_slices(std::size_t floats);
  [[nodiscard]] Span slice(std::size_t floats, int rank) const;

  std::unique_ptr<Mpi> mpi_;
  int rank_ = 0;
  int size_ = 1;
  int node_root_ = 0;  // the lowest rank on this node
  int node_size_ = 1;
  Buffer received_;
  Buffer total_;
};

}  // namespace dts::train
