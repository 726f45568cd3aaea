// SPDX-License-Identifier: Apache-2.0
// Adds up sums over shards where no rank ever has complete gradients (ZeRO stage 2). A step
// consists of rounds. In each round the ranks compute the next shards of the batch, one per thread,
// and send the gradients of each bucket to its owners during the backward pass. An owner adds them
// to what it has, along the usual tree over all shards: after a round it has, for its own share
// only, the nodes of the tree that cover the shards so far.
//
// So a rank holds gradients of its shards for about two buckets, and at most log2(rounds) + 1
// arrays of its share. In each round it sends about what stage 1 sends in a whole step.
// Every message has a checksum, made when its content was computed. Not thread-safe.
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
    int width = 1;  // shards of a round over all ranks: at least one per rank
    bool sealed = true;
    bool waits = false;  // for each bucket, instead of computing the next one meanwhile
    std::optional<Injection> injection;  // for tests: of a gradient or a message
    ArrayExchange* arrays = nullptr;     // has the gradients, if not the host
  };

  using Sums = GradientExchange::Sums;
  using Damaged = GradientExchange::Damaged;

  // Only for several ranks.
  RoundExchange(Group& comm,
                const Layout& layout,
                const ChunkGrid& grid,
                const Ownership& ownership,
                Settings settings);

  [[nodiscard]] int rounds() const;

  // The shards of this rank in a round; may be empty in the last round.
  [[nodiscard]] Span run(int round) const { return run_of(round, comm_.rank()); }

  // Like GradientExchange: in every round all buckets are handed over in this order, and `mine` has
  // the partials of run(round). When send_bucket() returns, the previous bucket is no longer read.
  [[nodiscard]] std::vector<Range> bucket_ranges() const { return ownership_.bucket_ranges(); }

  void send_bucket(const Partials& mine, std::uint64_t step);

  void progress() { comm_.progress(); }

  // Collective, after the last bucket of a round. `mine` is not read afterwards.
  void end_round(const Partials& mine, std::uint64_t step);

  // The sums that are not gradients in this rank's first partial, [Layout::tail_floats()]. Valid
  // from the end of the first round until sum().
  [[nodiscard]] float* tail() { return tails_.data(); }

  // Collective, after the last round.
  [[nodiscard]] Sums sum();

  // Found by the last sum(), at most one entry per peer.
  [[nodiscard]] const std::vector<Damaged>& damaged() const { return damaged_; }

  // The first chunk of this rank's own sums that changed while they were sent; nullopt if none did.
  [[nodiscard]] std::optional<int> changed_chunk() const { return changed_; }

 private:
  // A bucket in transit.
  struct InFlight {
    Group::Ticket ticket = 0;
    Room room;                                       // for the partials of other ranks
    std::vector<std::vector<std::uint64_t>> sealed;  // checksums of mine_, by partial and chunk
  };

  [[nodiscard]] Span shards_of(int round) const;
  [[nodiscard]] Span run_of(int round, int rank) const;
  [[nodiscard]] std::vector<Span> nodes_of(int round, int rank) const;
  [[nodiscard]] std::vector<Span> all_nodes_of(int rank) const;

  [[nodiscard]] InFlight& in_flight(int bucket) {
    return flights_[static_cast<std::size_t>(bucket % 2)];
  }

  [[nodiscard]] std::size_t place_of(int node, int bucket) const {
    return static_cast<std::size_t>(node) * begins_.size() + static_cast<std::size_t>(bucket);
  }

  [[nodiscard]] bool is_injected(Injection::Target what, std::uint64_t step) const;
  void begin_round();
  float* take();
  void seal(int bucket);
  void post(int bucket, std::uint64_t step);
  void fold(int bucket, std::uint64_t step);
  [[nodiscard]] ConstPartials arrived(int bucket, std::uint64_t step);
  void verify_sent(int bucket);
  void compare();

  Group& comm_;
  const Layout& layout_;
  const ChunkGrid& grid_;
  const Ownership& ownership_;
  Settings settings_;
  HostExchange host_;
  ArrayExchange& arrays_;
  std::vector<std::size_t> begins_;      // of buckets, in an array of what this rank owns
  std::vector<std::vector<int>> first_;  // by rank and round: index of its first node in seals_
  std::optional<Seals> seals_;           // by node and bucket; with the tails of a rank's partials
  std::vector<float> tails_;             // of this rank's partials, round by round
  int round_ = 0;
  int left_ = 0;      // number of buckets that have left in this round
  int travels_ = -1;  // the bucket that has left but is not added yet; -1: none
  Partials mine_;     // of this round
  std::array<InFlight, 2> flights_;
  std::deque<Room> rooms_;  // each for what this rank owns
  std::vector<float*> unused_;
  Partials held_;  // sums over the shards of earlier rounds
  Partials next_;  // results of this round, in an array of held_ if they begin with its node
  bool has_injected_ = false;  // whether a message was changed in this step
  std::vector<Damaged> damaged_;
  std::optional<int> changed_;
};

}  // namespace dts::train
