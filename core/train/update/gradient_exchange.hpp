// SPDX-License-Identifier: Apache-2.0
// Sums over shards: gradients to the owners of their slices, everything else to all ranks, with a
// checksum of each message from when its content was computed. Not thread-safe.
#pragma once

#include "core/train/comm/comm.hpp"
#include "core/train/update/chunk_grid.hpp"
#include "core/train/update/injection.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace dts::train {

class GradientExchange {
 public:
  struct Settings {
    int shards = 1;
    Owners owners;
    bool sealed = true;
    std::optional<Injection> injection;  // for tests: gradient and message
  };

  struct Sums {                        // valid until the next call
    const float* gradients = nullptr;  // of this rank's slice
    const float* tail = nullptr;       // [Layout::tail_floats()]
  };

  GradientExchange(Comm& comm, const Layout& layout, const ChunkGrid& grid, Settings settings);

  // Collective. `mine` has the partials of this rank's run of shards; `step` have been completed.
  [[nodiscard]] Sums sum(const Partials& mine, std::uint64_t step);

  // Ranks whose sums arrived other than they had been computed, in the last sum().
  [[nodiscard]] const std::vector<int>& damaged() const { return damaged_; }

  // Whether a chunk of the sums of a single rank, which sends none and so has nobody who compares
  // them, is still what was computed; of several ranks, true.
  [[nodiscard]] bool is_whole(int chunk) const;

  // The first chunk of this rank's own sums that has changed since it was computed.
  [[nodiscard]] std::optional<int> changed_chunk() const;

 private:
  void seal(const Partials& mine);
  void pack(const Partials& mine);
  void check(const ConstPartials& all);
  void inject_message(ConstPartials& all);
  [[nodiscard]] Partials tails();
  [[nodiscard]] bool is_injected(Injection::What what, std::uint64_t step) const;
  [[nodiscard]] std::vector<Span> nodes_of(int rank) const;
  [[nodiscard]] std::uint64_t sealed_slice(int peer, std::size_t partial) const;

  Comm& comm_;
  const Layout& layout_;
  const ChunkGrid& grid_;
  Settings settings_;
  std::vector<Span> slices_;       // floats, by owner
  Span own_;                       // chunks
  std::size_t most_partials_ = 0;  // of any rank
  std::size_t note_bytes_ = 0;     // for one peer: checksums of the slices of partials, then tails
  Partials mine_;
  Buffer gradients_;                                // of own_
  std::vector<float> changed_;                      // by an injection
  std::vector<std::vector<std::uint64_t>> sealed_;  // checksums of mine_, by partial and chunk
  std::vector<std::byte> notes_out_;
  std::vector<std::byte> notes_in_;
  std::vector<int> damaged_;
};

}  // namespace dts::train
