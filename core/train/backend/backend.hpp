// SPDX-License-Identifier: Apache-2.0
// What computes a step of one rank: the processor (shard_sums.hpp) or an accelerator
// (core/train/accelerator). Everything else of a training is the same for all of them.
#pragma once

#include "core/train/arrays/array_exchange.hpp"
#include "core/train/comm/tree.hpp"
#include "core/train/data/sampler.hpp"
#include "core/train/device/team.hpp"
#include "core/train/memory/window.hpp"
#include "core/train/model/network.hpp"
#include "core/train/optim/chunk_update.hpp"
#include "core/train/timing/timeline.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace dts::train {

// Gradients that leave, a run after the other, as soon as the last shards have completed them.
struct Departure {
  std::vector<Range>
      runs;  // in the order in which they leave: from the last to the first, adjacent
  // Called for each of them in turn, before sum() returns: the partials that sum() returns, of
  // which this run is final.
  std::function<void(const Partials&)> leave;
  std::function<void()> progress;  // called now and then after the first
  // Whether the memory of a run is used again once the next one has left, so that no rank has all
  // gradients: leave() has then waited until nobody reads the run before. All runs leave at the
  // same places of the backward pass on every rank. No shard may be audited then.
  bool drops = false;
};

struct StepInput {
  Samples samples;
  const float* weights = nullptr;
  std::uint64_t seed = 0;
  std::uint64_t step = 0;  // steps completed before this one
  int batch = 0;           // of all ranks together; a multiple of the number of shards
  float smoothing = 0;     // of labels
  int audited = -1;        // the shard whose sums get a checksum
  int nan_shard = -1;      // for tests: an input of this shard is NaN
  std::optional<std::size_t> miscomputed = {};  // for tests: an element of each shard's sums
  bool with_squares = false;     // Scalar::squares: the sum of those of each shard's gradients
  Timeline* timeline = nullptr;  // if set, has a track for each thread
  Augmentation augmentation{};   // of images
  const Departure* departure = nullptr;
  // If set, the weights are only there within it. All ranks call sum() together then, with a shard
  // for each of its threads at most, and `departure` drops.
  Window* window = nullptr;
  // Whether gradients may stay where they are computed, for update(), or for exchange(): the
  // partials that sum() returns, of which there is otherwise one, have the tail alone.
  bool stays = false;
};

// Not thread-safe. An accelerator that no longer works ends the process.
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  // The sums of maximal_nodes(shards, run), along the tree over all shards; the arrays are in the
  // host's memory, and valid until the next call.
  [[nodiscard]] virtual Partials sum(const StepInput& input, Span run) = 0;

  // The checksum() of the sums of `input.audited`, as the last sum() computed them; 0 if that shard
  // was not in its run.
  [[nodiscard]] virtual std::uint64_t audited() const = 0;

  // The same, from computing that shard once more. Leaves what sum() returned as it is.
  [[nodiscard]] virtual std::uint64_t recompute(const StepInput& input) = 0;

  // Of the chunks of `samples` that belong to part `part` of `parts`.
  [[nodiscard]] virtual Score evaluate(
      const Samples& samples, const float* weights, const float* running, int parts, int part) = 0;

  // The same within a window, where all ranks call it together.
  [[nodiscard]] virtual Score evaluate_within(Window& window,
                                              const Samples& samples,
                                              const float* weights,
                                              const float* running,
                                              int parts,
                                              int part) = 0;

  // The threads of this rank's processor, for all that is computed besides.
  [[nodiscard]] virtual Team& team() = 0;

  [[nodiscard]] virtual const Layout& layout() const = 0;

  // If not nullptr, this makes the optimiser's step, too, and has the weights of what is owned from
  // its begin() on: those of StepInput and of evaluate() are of others alone.
  [[nodiscard]] virtual ChunkUpdate* update() { return nullptr; }

  // Bytes that an accelerator has allocated of its memory: all that it will, from update()'s
  // begin() on. 0: it has none of its own.
  [[nodiscard]] virtual std::size_t device_bytes() const { return 0; }

  // If not nullptr, gradients and weights go to other ranks from where they are computed: then
  // update() makes the step, the weights of StepInput and of evaluate() are not read at all, and
  // whoever changes them does it there.
  [[nodiscard]] virtual ArrayExchange* exchange() { return nullptr; }

  // The shards that it computes at the same time, at most.
  [[nodiscard]] virtual int at_once() const = 0;
};

// What the samples of its batch are.
[[nodiscard]] SampleOrder order_of(const StepInput& input);

// Of each of its predictions: the mean over the batch.
[[nodiscard]] Objective objective_of(const StepInput& input, const Reads& reads);

// The samples of a shard, as many as `indices` has room for; those of the same shard of the next
// step are read ahead.
void choose_samples(const StepInput& input, int shard, std::span<std::size_t> indices);

// How the images of these samples are augmented; none if they are not.
[[nodiscard]] std::vector<Placement> placements_of(const StepInput& input,
                                                   int shard,
                                                   std::span<const std::size_t> indices);

// What nobody reads any more once `departed` runs have left that are dropped: the run before the
// last one, up to the page that it shares with the one before it.
[[nodiscard]] Range free_after(const Departure& departure, std::size_t departed);

// Begins a walk of `threads` threads past places that read these ranges.
void begin_walk(Window& window, const std::vector<Range>& reads, int threads);

}  // namespace dts::train
