// SPDX-License-Identifier: Apache-2.0
// Sums over shards: gradients, bucket by bucket, to the owners of their slices, everything else to
// all ranks, with a checksum of each message from when its content was computed. Where the ranks of
// a node form a level of their own, sums are first added up there, by the relay of each owner, and
// have new checksums from then on. Not thread-safe.
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
    std::optional<Injection> injection;  // for tests: gradient and message
    ArrayExchange* arrays = nullptr;     // of the gradients, if they are not the host's
  };

  struct Sums {                        // valid until the next call
    const float* gradients = nullptr;  // of what this rank owns, as Ownership has it: an array of
                                       // Settings::arrays
    const float* tail = nullptr;       // [Layout::tail_floats()]
  };

  // What a rank has sent, and which chunks of it arrived other than they had been computed.
  struct Damaged {
    int peer = 0;
    Span chunks;
  };

  GradientExchange(Levels& levels,
                   const Layout& layout,
                   const ChunkGrid& grid,
                   const Ownership& ownership,
                   Settings settings);

  // The gradients of each bucket, in the order in which buckets leave.
  [[nodiscard]] std::vector<Range> leaving() const { return ownership_.leaving(); }

  // Sends the next bucket of a step, of which `mine` is final, and does not wait. All ranks send
  // all of them before sum(), or none. For several ranks only.
  void leave(const Partials& mine, std::uint64_t step);

  // Moves what has left, and passes on what has been added up within the node.
  void progress();

  // Waits for the node's other ranks, until all that has left is passed on. Comes before any other
  // call of the ranks, since they have come to this point of a bucket's way at different times.
  void pass_on_rest();

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
  // Sums of this rank's node, of the slice of an owner that it relays to.
  struct Passed {
    int owner = 0;
    Span chunks;
    Span node;
    const float* sums = nullptr;
    const std::uint64_t* sealed = nullptr;  // checksums of the chunks
  };

  struct Bucket {
    Group::Scattered within;  // from the node's other ranks, to be added up and passed on
    std::vector<Passed> passed;
    Room sums;                          // of these, if there is a level within the node
    std::vector<std::uint64_t> sealed;  // theirs
    Group::Scattered across;            // from other nodes
  };

  using Arrivals = std::vector<Group::Scattered::Partial>::const_iterator;

  void begin(const Partials& mine, std::uint64_t step);
  void post_next();
  void post_within(int bucket);
  [[nodiscard]] ConstPartials collect(int bucket, std::size_t place, Arrivals& next);
  void make_room(int bucket, std::size_t sums);
  void add_up(int bucket);
  void take_own(int bucket);
  void pass_on();
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
  [[nodiscard]] bool is_injected(Injection::What what) const;
  [[nodiscard]] std::vector<Span> nodes_of(int rank) const;
  [[nodiscard]] std::uint64_t bytes_of(int bucket) const;

  [[nodiscard]] const Hierarchy& hierarchy() const { return levels_.hierarchy(); }

  // The bucket that follows so many.
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
  std::vector<std::size_t> begins_;  // of buckets, in gradients_
  std::size_t most_partials_ = 0;    // of any rank
  std::size_t most_sums_ = 0;        // of any node
  std::size_t most_relayed_ = 0;     // owners, by any rank of this node
  Seals across_;                     // by rank, then the tails of its partials
  Seals within_;                     // by place on this node
  Partials mine_;                    // gradients of the step under way
  Partials whole_mine_;              // with their tails
  std::uint64_t step_ = 0;           // completed before
  int posted_ = 0;                   // buckets, from the last one on
  int passed_ = 0;                   // of these, those that go across already
  std::vector<Bucket> buckets_;
  Room gradients_;                                  // that this rank owns
  bool has_injected_ = false;                       // a message, in this step
  std::vector<std::vector<std::uint64_t>> sealed_;  // checksums of mine_, by partial and chunk
  std::vector<std::uint64_t> now_;                  // of what has arrived
  std::vector<Damaged> damaged_;
};

}  // namespace dts::train
