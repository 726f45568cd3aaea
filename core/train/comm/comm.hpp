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

  [[nodiscard]] int node_root() const { return node_root_; }  // the lowest rank on this node

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

  // Posted now, complete after the next function that waits; `bytes` of each block. `in` and `all`
  // have a block of every rank; of `out`, block r goes to rank r. The memory must live that long.
  void post_exchange(const void* out, void* in, std::size_t bytes);
  void post_gather(const void* mine, void* all, std::size_t bytes);

  // Sends to each rank its slice of the partials in `mine`, the sums of this rank's run of
  // `shards`, and returns those of all shards for this rank's own slice, from which combine() makes
  // their sum (the first half of a reduce-scatter). Valid until the next call.
  [[nodiscard]] const Partials& scatter_partials(int shards,
                                                 const std::vector<Span>& slices,
                                                 const Partials& mine);

  // Each rank's slice of `array` to all others, in place.
  void gather_slices(float* array, const std::vector<Span>& slices);
  // Of rank 0's `whole` array, each rank's slice to its `own`; other ranks may pass nullptr for it.
  void hand_out_slices(const float* whole, float* own, const std::vector<Span>& slices);

 private:
  struct Mpi;  // keeps mpi.h out of this header

  std::unique_ptr<Mpi> mpi_;
  int rank_ = 0;
  int size_ = 1;
  int node_root_ = 0;
  int node_size_ = 1;
  Buffer received_;
  Partials partials_;  // in it
};

}  // namespace dts::train
