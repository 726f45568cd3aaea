// SPDX-License-Identifier: Apache-2.0
// Computes the gradients of one rank's step: on the processor (shard_sums.hpp) or on an accelerator
// (core/train/accelerator). The rest of a training does not depend on which it is.
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

// Gradients are handed over in buckets, one after another, as soon as the last shards complete
// them.
struct GradientBuckets {
  std::vector<Range>
      ranges;  // in the order in which they are handed over: from the last to the first, adjacent
  // Called for each bucket in turn, before sum() returns, with the partials that sum() will return.
  // The elements of this bucket are final in them; the others may not be.
  std::function<void(const Partials&)> ready;
  std::function<void()> progress;  // called from time to time after the first bucket is handed over
  // Whether the memory of a bucket is reused once the next one is handed over, so that no rank ever
  // holds all gradients. ready() must then not return while anybody still reads the previous
  // bucket. On every rank the buckets are handed over at the same places of the backward pass. No
  // shard may be audited.
  bool reuses_memory = false;
};

struct StepInput {
  Samples samples;
  const float* weights = nullptr;
  std::uint64_t seed = 0;
  std::uint64_t step = 0;  // steps completed before this one
  int batch = 0;           // of all ranks together; a multiple of the number of shards
  float smoothing = 0;     // label smoothing
  int audited = -1;        // the shard whose sums get a checksum; -1: none
  int nan_shard = -1;      // for tests: an input of this shard is NaN
  std::optional<std::size_t> miscomputed = {};  // for tests: an element changed in sums
  bool with_squares = false;     // Scalar::squares: adds up the squares of each shard's gradients
  Timeline* timeline = nullptr;  // if set, has a track for each thread
  Augmentation augmentation{};   // of images
  const GradientBuckets* buckets = nullptr;
  // If set, the weights exist only within this window. All ranks then call sum() together, with at
  // most one shard per thread, and `buckets` must have `reuses_memory`.
  Window* window = nullptr;
  // Whether gradients may stay where they were computed, for update() (if there is a single
  // partial) or for exchange(). The partials that sum() returns then contain only the tail.
  bool gradients_stay = false;
};

// Not thread-safe. If an accelerator fails, the process ends.
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  // Returns the sums of maximal_nodes(shards, run), added up along the tree over all shards. The
  // arrays are in host memory and valid until the next call.
  [[nodiscard]] virtual Partials sum(const StepInput& input, Span run) = 0;

  // The checksum() of the sums of shard `input.audited`, as the last sum() computed them; 0 if that
  // shard was not in its run.
  [[nodiscard]] virtual std::uint64_t audited() const = 0;

  // Computes that shard once more and returns the same checksum. Does not change what sum()
  // returned.
  [[nodiscard]] virtual std::uint64_t recompute(const StepInput& input) = 0;

  // Evaluates part `part` of `parts` of the chunks of `samples`.
  [[nodiscard]] virtual Score evaluate(
      const Samples& samples, const float* weights, const float* running, int parts, int part) = 0;

  // Like evaluate(), within a window. Collective: all ranks call it together.
  [[nodiscard]] virtual Score evaluate_within(Window& window,
                                              const Samples& samples,
                                              const float* weights,
                                              const float* running,
                                              int parts,
                                              int part) = 0;

  // The threads of this rank, also for all other computations on the processor.
  [[nodiscard]] virtual Team& team() = 0;

  [[nodiscard]] virtual const Layout& layout() const = 0;

  // If not nullptr, this backend also makes the optimiser's step. From update()'s begin() on it
  // keeps the weights that this rank owns, and reads only those of other ranks from StepInput and
  // evaluate().
  [[nodiscard]] virtual ChunkUpdate* update() { return nullptr; }

  // Bytes that an accelerator has allocated of its own memory, 0 if it has none. It allocates
  // nothing more after update()'s begin().
  [[nodiscard]] virtual std::size_t device_bytes() const { return 0; }

  // If not nullptr, gradients and weights go to other ranks directly from where they are computed.
  // Then update() makes the step, the weights of StepInput and evaluate() are not read at all, and
  // weights must be changed through this object and update().
  [[nodiscard]] virtual ArrayExchange* exchange() { return nullptr; }

  // The largest number of shards that it computes at the same time.
  [[nodiscard]] virtual int at_once() const = 0;
};

// The order in which the steps read samples.
[[nodiscard]] SampleOrder order_of(const StepInput& input);

// The loss of one prediction, scaled for the mean over the batch.
[[nodiscard]] Objective objective_of(const StepInput& input, const Reads& reads);

// Writes the indices of a shard's samples, as many as `indices` has room for, and starts to read
// ahead the same shard's samples of the next step.
void choose_samples(const StepInput& input, int shard, std::span<std::size_t> indices);

// How each of these images is augmented; empty without augmentation.
[[nodiscard]] std::vector<Placement> placements_of(const StepInput& input,
                                                   int shard,
                                                   std::span<const std::size_t> indices);

// The range to free once so many buckets are handed over, if their memory is reused: the bucket
// before the last one, and the page at its end, which the bucket before that could not free because
// both share it.
[[nodiscard]] Range free_after(const GradientBuckets& buckets, std::size_t handed_over);

// Begins a walk of `threads` threads through places that read these ranges.
void begin_walk(Window& window, const std::vector<Range>& reads, int threads);

}  // namespace dts::train
