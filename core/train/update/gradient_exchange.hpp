// SPDX-License-Identifier: Apache-2.0
// Adds up sums over shards: gradients go, bucket by bucket, to the owners of their slices,
// everything else to all ranks. Each message has a checksum, made when its content was computed. If
// the ranks of a node form a level of their own, the relay of each owner first adds up the node's
// sums, which then get new checksums. Not thread-safe.
#pragma once

#include "core/train/arrays/host_exchange.hpp"
#include "core/train/update/injection.hpp"
#include "core/train/update/levels.hpp"
#include "core/train/update/ownership.hpp"
#include "core/train/update/seals.hpp"

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
    std::optional<Injection> injection;  // for tests: of a gradient or a message
    ArrayExchange* arrays = nullptr;     // has the gradients, if not the host
  };

  struct Sums {                        // valid until the next call
    const float* gradients = nullptr;  // of what this rank owns, as Ownership has it: an array of
                                       // Settings::arrays
    const float* tail = nullptr;       // [Layout::tail_floats()]
  };

  // A peer, and the chunks of its messages that arrived differing from what it computed.
  struct Damaged {
    int peer = 0;
    Span chunks;
  };

  GradientExchange(Levels& levels,
                   const Layout& layout,
                   const ChunkGrid& grid,
                   const Ownership& ownership,
                   Settings settings);

  // The gradients of each bucket, in the order in which the buckets are handed over.
  [[nodiscard]] std::vector<Range> bucket_ranges() const { return ownership_.bucket_ranges(); }

  // Sends the next bucket of a step, which must be final in `mine`, without waiting. In a step all
  // ranks send either all buckets before sum(), or none. Only for several ranks.
  void send_bucket(const Partials& mine, std::uint64_t step);

  // Moves the buckets that have left, and passes on those that have been added up within the node.
  void progress();

  // Waits for the other ranks of the node until every bucket that has left is passed on. Must
  // precede any other call between the ranks, since they pass on a bucket at different times.
  void relay_rest();

  // Collective. `mine` has the partials of this rank's run of shards; `step` is the number of
  // completed steps.
  [[nodiscard]] Sums sum(const Partials& mine, std::uint64_t step);

  // Found by the last sum(), at most one entry per peer.
  [[nodiscard]] const std::vector<Damaged>& damaged() const { return damaged_; }

  // For a single rank, which sends no sums that a receiver would check: whether a chunk of them is
  // still as it was computed. Always true with several ranks.
  [[nodiscard]] bool is_whole(int chunk) const;

  // The first chunk of this rank's own sums that has changed since it was computed; nullopt if none
  // has.
  [[nodiscard]] std::optional<int> changed_chunk() const;

 private:
  // The sums of this rank's node for the slice of an owner whose relay it is.
  struct Passed {
    int owner = 0;
    Span chunks;
    Span node;
    const float* sums = nullptr;
    const std::uint64_t* sealed = nullptr;  // checksums of the chunks
  };

  struct Bucket {
    Group::Scattered within;  // from other ranks of the node, to be added up and passed on
    std::vector<Passed> passed;
    Room sums;                          // of `passed`, if there is a level within the node
    std::vector<std::uint64_t> sealed;  // checksums of `passed`
    Group::Scattered across;            // from other nodes
  };

  using Arrivals = std::vector<Group::Scattered::Partial>::const_iterator;

  void begin(const Partials& mine, std::uint64_t step);
  void post_next();
  void post_within(int bucket);
  [[nodiscard]] ConstPartials collect(int bucket, std::size_t place, Arrivals& next);
  void make_room(int bucket, std::size_t sums);
  void add_up(int bucket);
  void relay_own_sums(int bucket);
  void relay_sums();
  void receive(int bucket);

  // gradient_seals.cpp:
  void seal(int bucket);
  void inject_gradient(Range floats);
  void pack_within();
  void pack_across();
  void compare();
  [[nodiscard]] const float* arrived(const Group::Scattered::Partial& one, int from);
  [[nodiscard]] std::uint64_t checksum_of(const float* sums, Span chunks);
  [[nodiscard]] std::size_t within_index(int bucket, std::size_t owner, std::size_t partial) const;
  [[nodiscard]] std::optional<int> changed_in(const float* sums,
                                              Span chunks,
                                              const std::uint64_t* sealed) const;
  [[nodiscard]] Partials tails();
  [[nodiscard]] bool is_injected(Injection::Target what) const;
  [[nodiscard]] std::vector<Span> nodes_of(int rank) const;
  [[nodiscard]] std::uint64_t bytes_of(int bucket) const;

  [[nodiscard]] const Hierarchy& hierarchy() const { return levels_.hierarchy(); }

  // The bucket that follows after `done` buckets. They are handed over from the last to the first.
  [[nodiscard]] int next(int done) const { return ownership_.buckets() - 1 - done; }

  [[nodiscard]] Bucket& at(int bucket) { return buckets_[static_cast<std::size_t>(bucket)]; }

  Levels& levels_;
  Group& comm_;
  const Layout& layout_;
  const ChunkGrid& grid_;
  const Ownership& ownership_;
  Settings settings_;
  HostExchange host_;
  ArrayExchange& arrays_;
  std::vector<std::size_t> begins_;  // where each bucket begins in gradients_
  std::size_t most_partials_ = 0;    // largest number of partials of a rank
  std::size_t most_sums_ = 0;        // largest number of sums of a node
  std::size_t most_relayed_ = 0;     // largest number of owners that a rank of this node relays to
  Seals across_;                     // by rank; with the tails of its partials
  Seals within_;                     // by place on this node
  Partials mine_;                    // gradients of the current step
  Partials mine_with_tails_;         // the same with their tails
  std::uint64_t step_ = 0;           // number of completed steps
  int posted_ = 0;                   // number of buckets, from the last one on
  int passed_ = 0;                   // number of these that have gone across nodes
  std::vector<Bucket> buckets_;
  Room gradients_;                                  // those that this rank owns
  bool has_injected_ = false;                       // whether a message was changed in this step
  std::vector<std::vector<std::uint64_t>> sealed_;  // checksums of mine_, by partial and chunk
  std::vector<std::uint64_t> now_;                  // checksums of what has arrived
  std::vector<Damaged> damaged_;
};

}  // namespace dts::train
