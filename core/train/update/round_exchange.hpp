// SPDX-License-Identifier: Apache-2.0
// Sums over shards where no rank has whole gradients of its own (ZeRO stage 2). A step is made in
// rounds: in each of them the ranks compute the next shards of the batch, as many at once as there
// are threads, and the gradients of a bucket leave for their owners in the backward pass. An owner
// adds them to what it has, along the same tree over all shards as ever: after a round it has the
// nodes of the tree that cover the shards so far, of its own share alone.
//
// So a rank has gradients of its shards for about two buckets, and log2(rounds) + 1 arrays of its
// share at most. What travels is what a rank's sums would be, once a round instead of once a step.
// Every message has a checksum from when its content was computed. Not thread-safe.
#pragma once

#include "core/train/update/gradient_exchange.hpp"
#include "core/train/update/seals.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace dts::train {

class RoundExchange {
 public:
  struct Settings {
    int shards = 1;
    int width = 1;  // shards of a round, of all ranks together: at least a shard for each rank
    bool sealed = true;
    bool waits = false;  // for each bucket, instead of while the next one is computed
    std::optional<Injection> injection;  // for tests: gradient and message
    ArrayExchange* arrays = nullptr;     // of the gradients, if they are not the host's
  };

  using Sums = GradientExchange::Sums;
  using Damaged = GradientExchange::Damaged;

  // For several ranks.
  RoundExchange(Group& comm,
                const Layout& layout,
                const ChunkGrid& grid,
                const Ownership& ownership,
                Settings settings);

  [[nodiscard]] int rounds() const;

  // The shards of this rank in a round; in the last one there may be none.
  [[nodiscard]] Span run(int round) const { return run_of(round, comm_.rank()); }

  // As GradientExchange: of every round, all buckets leave in this order, `mine` having the
  // partials of run(round). When leave() returns, the bucket before is no longer read.
  [[nodiscard]] std::vector<Range> leaving() const { return ownership_.leaving(); }

  void leave(const Partials& mine, std::uint64_t step);

  void progress() { comm_.progress(); }

  // Collective, after the last bucket of a round; `mine` is not read any more afterwards.
  void end_round(const Partials& mine, std::uint64_t step);

  // What is not gradients of this rank's first partial, [Layout::tail_floats()], from the first
  // round's end until sum().
  [[nodiscard]] float* tail() { return tails_.data(); }

  // Collective, after the last round.
  [[nodiscard]] Sums sum();

  // Of the last sum(), at most one for each peer.
  [[nodiscard]] const std::vector<Damaged>& damaged() const { return damaged_; }

  // The first chunk of this rank's own sums that has changed while they were sent.
  [[nodiscard]] std::optional<int> changed_chunk() const { return changed_; }

 private:
  // A bucket that travels.
  struct Flight {
    Group::Ticket ticket = 0;
    Room room;                                       // partials of others
    std::vector<std::vector<std::uint64_t>> sealed;  // checksums of mine_, by partial and chunk
  };

  [[nodiscard]] Span shards_of(int round) const;
  [[nodiscard]] Span run_of(int round, int rank) const;
  [[nodiscard]] std::vector<Span> nodes_of(int round, int rank) const;
  [[nodiscard]] std::vector<Span> all_nodes_of(int rank) const;

  [[nodiscard]] Flight& flight(int bucket) {
    return flights_[static_cast<std::size_t>(bucket % 2)];
  }

  [[nodiscard]] std::size_t place_of(int node, int bucket) const {
    return static_cast<std::size_t>(node) * begins_.size() + static_cast<std::size_t>(bucket);
  }

  [[nodiscard]] bool is_injected(Injection::What what, std::uint64_t step) const;
  void begin_round();
  float* take();
  void seal(int bucket);
  void post(int bucket, std::uint64_t step);
  void fold(int bucket, std::uint64_t step);
  [[nodiscard]] ConstPartials arrived(int bucket, std::uint64_t step);
  void look_again(int bucket);
  void compare();

  Group& comm_;
  const Layout& layout_;
  const ChunkGrid& grid_;
  const Ownership& ownership_;
  Settings settings_;
  HostExchange host_;
  ArrayExchange& arrays_;
  std::vector<std::size_t> begins_;      // of buckets, in an array of what this rank owns
  std::vector<std::vector<int>> first_;  // by rank and round: its first node in seals_
  std::optional<Seals> seals_;           // by node and bucket, then the tails of a rank's partials
  std::vector<float> tails_;             // of this rank's partials, round after round
  int round_ = 0;
  int left_ = 0;      // buckets of this round
  int travels_ = -1;  // the bucket that has left and is not added yet
  Partials mine_;     // of this round
  std::array<Flight, 2> flights_;
  std::deque<Room> rooms_;  // of what this rank owns
  std::vector<float*> unused_;
  Partials held_;  // sums of what came in earlier rounds
  Partials next_;  // what this round makes, in an array of held_ where it begins with that
  bool has_injected_ = false;  // a message, in this step
  std::vector<Damaged> damaged_;
  std::optional<int> changed_;
};

}  // namespace dts::train
