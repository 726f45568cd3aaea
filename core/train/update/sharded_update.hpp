// SPDX-License-Identifier: Apache-2.0
// The optimiser's step, each rank on its own share of the parameters (S. Rajbhandari et al., "ZeRO:
// Memory Optimizations Toward Training Trillion Parameter Models", SC 2020): sums of gradients go
// to the owner of a share, new weights from there to all. As many bytes travel as with an
// all-reduce; momentum, that is, all moments of the optimiser, exists once. That is its stage 1; in
// stage 2, no rank has whole gradients either (round_exchange.hpp), and in stage 3, none has whole
// weights: state.weights is a sparse array that has a rank's own ones, and those of others between
// gather_weights() and drop_weights().
//
// Sealed, every array has a checksum from when it was written, checked when it is next read:
// weights and momentum a step later, sums of gradients by the rank that receives them. The
// checksums of new weights travel with them, so that each rank's copy is compared with what its
// owner computed. Not thread-safe. Functions that are collective say so.
#pragma once

#include "core/train/checkpoint/state.hpp"
#include "core/train/comm/comm.hpp"
#include "core/train/device/team.hpp"
#include "core/train/optim/chunk_update.hpp"
#include "core/train/optim/optimizer.hpp"
#include "core/train/optim/part_of_step.hpp"
#include "core/train/update/findings.hpp"
#include "core/train/update/gradient_exchange.hpp"
#include "core/train/update/levels.hpp"
#include "core/train/update/ownership.hpp"
#include "core/train/update/round_exchange.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace dts::train {

class ShardedUpdate {
 public:
  enum class Ended { well, damaged, not_finite };

  struct Settings {
    int shards = 1;
    int servers = 0;               // ranks that own slices; 0, or more than there are: every rank
    std::size_t bucket_bytes = 0;  // of gradients that travel together; 0: all of them
    bool node_first = false;       // sums and weights: within each node, then across
    bool sealed = true;
    std::optional<Injection> injection;  // for tests: gradient, momentum and message
    std::string node;                    // where this rank runs, for people
    // Its moments are those of the layout.
    const OptimizerRow* optimizer = find_optimizer("sgd");
    OptimizerSettings optimization{};
    int zero = 1;             // its stage; 2 and 3 are for several ranks
    int width = 1;            // of stages 2 and 3, as
    bool is_waiting = false;  // RoundExchange::Settings say
    // Makes the steps instead of the processor, and must outlive this; nullptr: none does. For
    // apply(), not for serve().
    ChunkUpdate* accelerated = nullptr;
    // Of the arrays of the accelerator, if gradients and weights go to other ranks from there;
    // nullptr: they go by way of the host's memory.
    ArrayExchange* arrays = nullptr;
  };

  // `team` divides the chunks of this rank; it, `comm` and `layout` must outlive this.
  ShardedUpdate(Comm& comm, const Layout& layout, Team& team, Settings settings);

  // Collective. Of weights and momentum, what a rank owns is there. The weights are on all ranks
  // then, unless this is stage 3, and `state.momentum` is taken over and freed.
  void begin(State& state);

  // What sends gradients while others are still computed: of stage 1 the first, otherwise the
  // second one, which is nullptr in stage 1.
  [[nodiscard]] GradientExchange& exchange() { return *exchange_; }

  [[nodiscard]] RoundExchange* rounds() { return rounds_ ? &*rounds_ : nullptr; }

  // Whether gradients need not come to the host (StepInput::stays): what is computed by the
  // accelerator that moves the weights is all that there is, or they are exchanged from there.
  [[nodiscard]] bool stays() const { return stays_ || is_apart(); }

  // What this rank has of the weights is in `state.weights`, too, even if it stays elsewhere.
  void bring_weights(State& state);

  // For tests: flips a bit of a weight wherever this rank has it.
  void flip_weight(State& state, std::size_t element);

  // What is not gradients of this rank's first partial: flags may be added there before reduce().
  [[nodiscard]] float* tail_of(const Partials& mine) {
    return rounds_ ? rounds_->tail() : mine.begin()->second + layout_.parameter_floats;
  }

  [[nodiscard]] const Ownership& ownership() const { return ownership_; }

  // False also where all ranks are on one node, or each on its own.
  [[nodiscard]] bool is_node_first() const { return !levels_.hierarchy().is_flat(); }

  // Collective. The sums over shards of everything but the gradients, [Layout::tail_floats()],
  // valid until the next call; `mine` has the partials of this rank's run of shards. Scalar::damage
  // among them is how many ranks found the weights of others changed in their copy.
  [[nodiscard]] const float* reduce(const State& state, const Partials& mine);

  // Collective, after reduce(): one step of the optimiser. Unless all ends well, on every rank
  // alike, the state is as before: `damaged` if sums arrived changed, or weights or momentum were,
  // `not_finite` if gradients, their norm or new weights are not.
  [[nodiscard]] Ended apply(double lr, State& state);

  // As apply(), but for this rank alone, and with what a part of the batch adds to the gradient of
  // this rank's own, in the order of what it owns; `step` has the rate of the whole batch. The
  // weights of others become anything until publish(). For optimisers whose update is not by
  // tensor; gradients are not clipped.
  [[nodiscard]] Ended serve(const PartOfStep& part,
                            UpdateStep step,
                            const float* gradients,
                            State& state);

  // What `peer`, of which or of this rank the slice is, has sent arrived changed: for blame().
  void arrived_changed(int peer);

  // Collective, after any number of serve(). What each owner has of the weights is on all ranks
  // then. False if one of them found damage, as apply().
  [[nodiscard]] bool publish(State& state);

  // Of the last apply(), before clipping, over the chunks in their order: the same for any number
  // of ranks.
  [[nodiscard]] double gradient_norm() const;

  // The first tensor whose gradient or new weight was not finite, after apply() said so.
  [[nodiscard]] std::string what_is_not_finite() const;

  [[nodiscard]] const std::string& node() const { return settings_.node; }

  // The digest of the whole state, from the checksums of all chunks; 0 unless sealed.
  [[nodiscard]] std::uint64_t root(const State& state) const;

  // Collective. Whether weights, momentum and running statistics are what they should be, and the
  // same on all ranks.
  [[nodiscard]] bool verify(const State& state);

  // Collective, after something was found. Whose bits are wrong, the same on every rank.
  [[nodiscard]] std::vector<Blame> blame();

  // Whether a rank wants some floats of an array; the same answer on every rank.
  using Wants = std::function<bool(int rank, ArrayOf array, Range floats)>;
  using Take = std::function<void(ArrayOf array, Range floats, const float* values)>;

  // Collective. What is divided among the ranks, the weights in stage 3 and all moments in their
  // order, in pieces of up to 4 MiB, each to the ranks that want it: a rank has no more than two
  // pieces that are not its own. False, on every rank, if weights came that are not those which
  // their owner had computed.
  [[nodiscard]] bool hand_out(const State& state, const Wants& wants, const Take& take);

  // Collective. Makes `state.momentum` whole, to be freed after use: as large as the weights.
  void gather_momentum(State& state);

  // Collective, for stage 3. The weights of a bucket on all ranks, each compared with what its
  // owner had computed.
  void gather_weights(State& state, int bucket);

  // Those of other ranks in the range, so far as whole pages are, take no memory from now on.
  void drop_weights(State& state, Range range) const;

  // Of all buckets; in stages 1 and 2 they always are there.
  void gather_weights(State& state);
  void drop_weights(State& state) const;

 private:
  struct Record {        // of a chunk, by its owner
    double squares = 0;  // of the gradient
    double weight_squares = 0;
    std::uint64_t weights = 0;
    std::uint64_t momentum = 0;
  };

  struct Header {
    std::uint64_t damaged = 0;
  };

  enum Wrong : std::uint8_t { k_weights = 1, k_momentum = 2, k_gradient = 4 };

  // Calls work(chunk, thread) for each of `chunks`, divided among the team.
  template <class Work>
  void each(const std::vector<int>& chunks, const Work& work) {
    const Span all{0, static_cast<int>(chunks.size())};
    team_.run([&](int thread) {
      const Span part = part_of(all, team_.size(), thread);
      for (int i = part.lo; i < part.hi; ++i) work(chunks[static_cast<std::size_t>(i)], thread);
    });
  }

  void find(Found what, Span chunks, int peer);
  void find_wrong();
  void check_weights(const State& state, int chunk);
  void check_weights(const float* values, Span chunks);
  void check_others(const State& state);
  void check_momentum(int chunk);
  void check_own(const State& state, int chunk);
  void check_gradient(int chunk);
  void move_own(const UpdateStep& step, float scale, const State& state);
  void record(int chunk, const float* gradients, const float* weights, const Buffer& moments);
  void record_next(int chunk);  // what apply() and serve() have made of it
  // Of a chunk, from that of each of its moments.
  [[nodiscard]] std::uint64_t checksum_of_all(const std::uint64_t* moments) const;
  [[nodiscard]] std::uint64_t moments_checksum(int chunk, const Buffer& moments) const;
  void exchange_records(float* weights);
  void add_slices(float* array, std::vector<Levels::Sliced>& to) const;
  void inject_momentum(const State& state);
  [[nodiscard]] std::optional<int> first_not_finite() const;
  [[nodiscard]] std::size_t block_bytes() const;

  // optimize.cpp:
  void move(
      int chunk, int thread, const UpdateStep& step, float gradient_scale, const State& state);
  [[nodiscard]] float gradient_scale();
  using ByChunk = std::vector<double>;

  void move_by_tensor(double lr, const State& state);
  [[nodiscard]] std::vector<float> rates_by_tensor(double lr, ByChunk weights, ByChunk directions);
  void share(std::vector<double>& by_chunk);

  // accelerated.cpp:
  [[nodiscard]] bool is_apart() const { return settings_.arrays != nullptr; }

  void check_apart(Span chunks);
  void gather_apart();
  void gather_apart(int bucket);
  void begin_there(const State& state);
  void compare_reports();
  void check_there(const State& state);
  void step_there(const UpdateStep& step, float scale);
  void bring_moments();
  [[nodiscard]] ByChunk gradient_squares_there();

  Comm& comm_;
  const Layout& layout_;
  Team& team_;
  Settings settings_;
  ChunkGrid grid_;
  Ownership ownership_;
  Levels levels_;
  std::optional<GradientExchange> exchange_;
  std::optional<RoundExchange> rounds_;
  std::vector<int> own_;     // chunks
  std::vector<int> others_;  // of which this rank has a copy all the time
  std::size_t own_floats_ = 0;
  std::vector<std::size_t> places_;  // of all chunks: of own_, where its floats begin among them
  std::size_t most_chunks_ = 0;
  // All moments of what is owned, one moment after the other.
  Buffer momentum_;  // accelerated: what bring_moments() has brought
  Buffer next_momentum_;
  Buffer next_weights_;
  std::vector<Buffer> scaled_;        // by thread: a chunk's gradient, if it is clipped
  GradientExchange::Sums sums_;       // of the step under way
  std::vector<std::byte> blocks_;     // of records, one of each rank
  std::vector<Record> records_;       // of the state, all chunks
  std::vector<Record> next_records_;  // of the update under way
  std::vector<std::uint8_t> wrong_;   // of all chunks, what is other than its checksum
  std::vector<ChunkReport> reports_;  // of own_, if they are accelerated
  bool stays_ = false;
  bool is_behind_ = false;         // state.weights, of what this rank owns
  bool damaged_ = false;           // what was received in this step
  std::vector<Finding> findings_;  // of this rank
};

}  // namespace dts::train
