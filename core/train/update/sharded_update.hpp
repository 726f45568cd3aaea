// SPDX-License-Identifier: Apache-2.0
// The optimiser's step, each rank on its own share of the parameters (S. Rajbhandari et al., "ZeRO:
// Memory Optimizations Toward Training Trillion Parameter Models", SC 2020). Sums of gradients go
// to the owner of a share, and new weights from there to all ranks: as many bytes as an all-reduce
// sends. Momentum, here all moments of the optimiser, exists only once. This is ZeRO stage 1. In
// stage 2, no rank has complete gradients either (round_exchange.hpp). In stage 3, none has
// complete weights: state.weights is a sparse array that holds a rank's own weights, and those of
// others between gather_weights() and drop_weights().
//
// If sealed, every array has a checksum, made when it is written and checked when it is next read:
// for weights and momentum in the next step, for sums of gradients by the rank that receives them.
// The checksums of new weights travel with them, so that each rank can compare its copy with what
// the owner computed. Not thread-safe. Collective functions say so.
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
    int servers = 0;               // ranks that own slices; 0, or too many: every rank
    std::size_t bucket_bytes = 0;  // of gradients that travel together; 0: all in one bucket
    bool node_first = false;       // send sums and weights within each node first, then across
    bool sealed = true;
    std::optional<Injection> injection;  // for tests: of gradient, momentum or message
    std::string node;                    // where this rank runs, for messages
    // Its moments must be those of the layout.
    const OptimizerRow* optimizer = find_optimizer("sgd");
    OptimizerSettings optimization{};
    int zero = 1;             // ZeRO stage; 2 and 3 need several ranks
    int width = 1;            // stages 2 and 3: RoundExchange::Settings::width
    bool is_waiting = false;  // and RoundExchange::Settings::waits
    // If set, makes the steps instead of the processor; must outlive this. Used by apply(), not by
    // serve().
    ChunkUpdate* accelerated = nullptr;
    // The arrays of the accelerator, if gradients and weights go to other ranks from there; nullptr
    // if they are staged in host memory.
    ArrayExchange* arrays = nullptr;
  };

  // `team` computes this rank's chunks. `comm`, `layout` and `team` must outlive this.
  ShardedUpdate(Comm& comm, const Layout& layout, Team& team, Settings settings);

  // Collective. On entry, the weights and momentum that a rank owns must be present in `state`.
  // Afterwards all ranks have all weights, except in stage 3, and `state.momentum` has been taken
  // over and freed.
  void begin(State& state);

  // Sends gradients while others are still being computed: exchange() in stage 1, rounds() in
  // stages 2 and 3. rounds() is nullptr in stage 1.
  [[nodiscard]] GradientExchange& exchange() { return *exchange_; }

  [[nodiscard]] RoundExchange* rounds() { return rounds_ ? &*rounds_ : nullptr; }

  // Whether gradients need not come to the host (StepInput::gradients_stay): either the accelerator
  // that updates the weights has computed all of them, or they are exchanged from there.
  [[nodiscard]] bool gradients_stay() const { return stays_ || exchanges_on_device(); }

  // Copies the weights that this rank has elsewhere, on an accelerator, to `state.weights`.
  void copy_weights_to_host(State& state);

  // For tests: flips a bit of a weight wherever this rank has it.
  void flip_weight(State& state, std::size_t element);

  // The sums in this rank's first partial that are not gradients. Flags may be added there before
  // reduce().
  [[nodiscard]] float* tail_of(const Partials& mine) {
    return rounds_ ? rounds_->tail() : mine.begin()->second + layout_.parameter_floats;
  }

  [[nodiscard]] const Ownership& ownership() const { return ownership_; }

  // False if all ranks are on one node, or each has a node of its own.
  [[nodiscard]] bool is_node_first() const { return !levels_.hierarchy().is_flat(); }

  // Collective. Returns the sums over shards of everything but the gradients,
  // [Layout::tail_floats()], valid until the next call. `mine` has the partials of this rank's run
  // of shards. Scalar::damage among the sums is the number of ranks that found their copy of other
  // ranks' weights changed.
  [[nodiscard]] const float* reduce(const State& state, const Partials& mine);

  // Collective, after reduce(): makes one step of the optimiser. Every rank gets the same result.
  // Unless it is `well`, the state is unchanged: `damaged` if sums arrived changed, or weights or
  // momentum changed in memory; `not_finite` if gradients, their norm or new weights are not
  // finite.
  [[nodiscard]] Ended apply(double lr, State& state);

  // Like apply(), but for this rank only, with what a part of the batch adds to the gradient of the
  // parameters that this rank owns, in the order of Ownership::runs_of(). `step` has the learning
  // rate of the whole batch. The weights of other ranks are undefined until publish(). Not for
  // optimisers that update by tensor; gradients are not clipped.
  [[nodiscard]] Ended serve(const PartOfStep& part,
                            UpdateStep step,
                            const float* gradients,
                            State& state);

  // Records, for blame(), that a slice of weights or gradients that `peer` sent arrived changed.
  void record_damaged_slice(int peer);

  // Collective, after any number of serve(). Sends the weights of each owner to all ranks. Returns
  // false if a rank found damage, as apply() does.
  [[nodiscard]] bool publish(State& state);

  // The norm of the gradient in the last apply(), before clipping. It is summed over chunks in
  // their order, and so does not depend on the number of ranks.
  [[nodiscard]] double gradient_norm() const;

  // After apply() returned not_finite: the first tensor whose gradient or new weight is not finite.
  [[nodiscard]] std::string what_is_not_finite() const;

  [[nodiscard]] const std::string& node() const { return settings_.node; }

  // The digest of the whole state, computed from the checksums of all chunks; 0 unless sealed.
  [[nodiscard]] std::uint64_t root(const State& state) const;

  // Collective. Whether weights, momentum and running statistics match their checksums, and are the
  // same on all ranks.
  [[nodiscard]] bool verify(const State& state);

  // Collective, after damage was found: whose bits are wrong. Every rank gets the same result.
  [[nodiscard]] std::vector<Blame> blame();

  // Whether a rank needs these floats of an array. Must return the same on every rank.
  using Wants = std::function<bool(int rank, ArrayOf array, Range floats)>;
  using Take = std::function<void(ArrayOf array, Range floats, const float* values)>;

  // Collective. Sends what is divided among the ranks (in stage 3 the weights, and all moments in
  // their order) in pieces of up to 4 MiB, each to the ranks that want it. A rank holds at most two
  // pieces that are not its own. Returns false, on every rank, if weights arrived that differ from
  // what their owner computed.
  [[nodiscard]] bool distribute_state(const State& state, const Wants& wants, const Take& take);

  // Collective. Completes `state.momentum` [Layout::moment_floats()], to be freed after use.
  void gather_momentum(State& state);

  // Collective, for stage 3. Gets the weights of a bucket to all ranks, and compares each chunk
  // with what its owner computed.
  void gather_weights(State& state, int bucket);

  // Frees the memory of other ranks' weights in the range, as far as it consists of whole pages.
  void drop_weights(State& state, Range range) const;

  // The same for all buckets; these do nothing in stages 1 and 2.
  void gather_weights(State& state);
  void drop_weights(State& state) const;

 private:
  struct Record {        // of a chunk; made by its owner
    double squares = 0;  // of its gradient
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
  void find_damage();
  void check_weights(const State& state, int chunk);
  void check_weights(const float* values, Span chunks);
  void check_copies(const State& state);
  void check_momentum(int chunk);
  void check_owned(const State& state, int chunk);
  void check_gradient(int chunk);
  void step_owned(const UpdateStep& step, float scale, const State& state);
  void record(int chunk, const float* gradients, const float* weights, const Buffer& moments);
  void record_next(int chunk);  // the result of apply() or serve()
  // The checksum of a chunk's moments, computed from the checksum of each of them.
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

  void step_by_tensor(double lr, const State& state);
  [[nodiscard]] std::vector<float> rates_by_tensor(double lr, ByChunk weights, ByChunk directions);
  void share(std::vector<double>& by_chunk);

  // accelerated.cpp:
  [[nodiscard]] bool exchanges_on_device() const { return settings_.arrays != nullptr; }

  void check_device_chunks(Span chunks);
  void gather_on_device();
  void gather_on_device(int bucket);
  void begin_on_device(const State& state);
  void compare_reports();
  void check_on_device(const State& state);
  void step_on_device(const UpdateStep& step, float scale);
  void copy_moments_to_host();
  [[nodiscard]] ByChunk device_gradient_squares();

  Comm& comm_;
  const Layout& layout_;
  Team& team_;
  Settings settings_;
  ChunkGrid grid_;
  Ownership ownership_;
  Levels levels_;
  std::optional<GradientExchange> exchange_;
  std::optional<RoundExchange> rounds_;
  std::vector<int> own_;     // the chunks that this rank owns
  std::vector<int> others_;  // the other chunks of which it keeps a copy
  std::size_t own_floats_ = 0;
  std::vector<std::size_t> places_;  // by chunk: for own_, its offset among the owned floats
  std::size_t most_chunks_ = 0;
  // All moments of the parameters that this rank owns, one moment after another.
  Buffer momentum_;  // accelerated: what copy_moments_to_host() copied
  Buffer next_momentum_;
  Buffer next_weights_;
  std::vector<Buffer> scaled_;        // by thread: a chunk's clipped gradient
  GradientExchange::Sums sums_;       // of the current step
  std::vector<std::byte> blocks_;     // records, one block per rank
  std::vector<Record> records_;       // by chunk, of the state
  std::vector<Record> next_records_;  // by chunk, of the current update
  std::vector<std::uint8_t> wrong_;   // by chunk: what differs from its checksum, as a set of Wrong
  std::vector<ChunkReport> reports_;  // of own_, if accelerated
  bool stays_ = false;
  bool is_behind_ = false;         // state.weights lack this rank's latest ones
  bool damaged_ = false;           // something received in this step was
  std::vector<Finding> findings_;  // of this rank
};

}  // namespace dts::train
