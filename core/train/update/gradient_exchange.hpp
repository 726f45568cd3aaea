// SPDX-License-Identifier: Apache-2.0
// Sums over shards: gradients, bucket by bucket, to the owners of their slices, everything else to
// all ranks, with a checksum of each message from when its content was computed. Not thread-safe.
#pragma once

#include "core/train/comm/comm.hpp"
#include "core/train/update/injection.hpp"
#include "core/train/update/ownership.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace dts::train {

class GradientExchange {
 public:
  struct Settings {
    int shards = 1;
    bool sealed = true;
    std::optional<Injection> injection;  // for tests: gradient and message
  };

  struct Sums {                        // valid until the next call
    const float* gradients = nullptr;  // of what this rank owns, as Ownership has it
    const float* tail = nullptr;       // [Layout::tail_floats()]
  };

  // What a rank has sent, and which chunks of it arrived other than they had been computed.
  struct Damaged {
    int peer = 0;
    Span chunks;
  };

  GradientExchange(Group& comm,
                   const Layout& layout,
                   const ChunkGrid& grid,
                   const Ownership& ownership,
                   Settings settings);

  // The gradients of each bucket, in the order in which buckets leave.
  [[nodiscard]] std::vector<Range> leaving() const { return ownership_.leaving(); }

  // Sends the next bucket of a step, of which `mine` is final, and does not wait. All ranks send
  // all of them before sum(), or none. For several ranks only.
  void leave(const Partials& mine, std::uint64_t step);

  // Moves what has left.
  void progress() { comm_.progress(); }

  // Collective. `mine` has the partials of this rank's run of shards; `step` have been completed.
  [[nodiscard]] Sums sum(const Partials& mine, std::uint64_t step);

  // Of the last sum(), at most one for each peer.
  [[nodiscard]] const std::vector<Damaged>& damaged() const { return damaged_; }

  // Whether a chunk of the sums of a single rank, which sends none and so has nobody who compares
  // them, is still what was computed; of several ranks, true.
  [[nodiscard]] bool is_whole(int chunk) const;

  // The first chunk of this rank's own sums that has changed since it was computed.
  [[nodiscard]] std::optional<int> changed_chunk() const;

 private:
  void seal(int bucket);
  void post(int bucket, std::uint64_t step);
  void pack();
  void receive(int bucket, std::uint64_t step);
  void compare();
  void inject_gradient(Span floats, std::uint64_t step);
  void inject_message(ConstPartials& all, std::size_t width, std::uint64_t step);
  [[nodiscard]] Partials tails();
  [[nodiscard]] bool is_injected(Injection::What what, std::uint64_t step) const;
  [[nodiscard]] std::vector<Span> nodes_of(int rank) const;
  [[nodiscard]] std::uint64_t* sums_in(std::vector<std::byte>& notes, int peer);

  Group& comm_;
  const Layout& layout_;
  const ChunkGrid& grid_;
  const Ownership& ownership_;
  Settings settings_;
  std::vector<std::size_t> begins_;  // of buckets, in gradients_
  std::size_t most_partials_ = 0;    // of any rank
  // For one peer: checksums of its slices of each partial, by bucket, then the tails of partials.
  std::size_t sums_bytes_ = 0, note_bytes_ = 0;
  Partials mine_;
  int left_ = 0;  // buckets of this step that have left
  std::vector<Group::Scattered> scattered_;
  Buffer gradients_;                                // that this rank owns
  std::vector<float> changed_;                      // by an injection
  bool has_injected_ = false;                       // a message, in this step
  std::vector<std::vector<std::uint64_t>> sealed_;  // checksums of mine_, by partial and chunk
  std::vector<std::byte> notes_out_;
  std::vector<std::byte> notes_in_;
  std::vector<std::byte> found_;  // the checksums that notes_in_ should have
  std::vector<Damaged> damaged_;
};

}  // namespace dts::train
