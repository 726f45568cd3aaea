// SPDX-License-Identifier: Apache-2.0
// The sums of one rank's run of shards, on all threads of the rank.
#pragma once

#include "core/base/result.hpp"
#include "core/train/comm/tree.hpp"
#include "core/train/device/team.hpp"
#include "core/train/memory/window.hpp"
#include "core/train/model/network.hpp"
#include "core/train/timing/timeline.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
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
};

// Threads get contiguous parts of the rank's run, as ranks get contiguous parts of all shards, so
// neither number changes the result by a bit. Holds at most 2 log2(shards) + 2 arrays of sums per
// thread. Not thread-safe.
class ShardSums {
 public:
  // `model` must outlive it.
  [[nodiscard]] static Result<std::unique_ptr<ShardSums>> create(
      const Model& model,
      int shards,
      int micro_batch,
      int threads,
      Precision precision = Precision::fp32);

  // The sums of maximal_nodes(shards, run); the arrays are valid until the next call.
  [[nodiscard]] Partials sum(const StepInput& input, Span run);

  // The checksum() of the sums of `input.audited`, as the last sum() computed them; 0 if that shard
  // was not in its run.
  [[nodiscard]] std::uint64_t audited() const;

  // The same, from computing that shard once more. Leaves what sum() returned as it is.
  [[nodiscard]] std::uint64_t recompute(const StepInput& input);

  // Of the chunks of `samples` that belong to part `part` of `parts`.
  [[nodiscard]] Score evaluate(
      const Samples& samples, const float* weights, const float* running, int parts, int part);

  // The same within a window, where all ranks call it together.
  [[nodiscard]] Score evaluate_within(Window& window,
                                      const Samples& samples,
                                      const float* weights,
                                      const float* running,
                                      int parts,
                                      int part);

  [[nodiscard]] Team& team() { return team_; }

  [[nodiscard]] const Layout& layout() const { return model_.layout; }

  [[nodiscard]] int shards() const { return shards_; }

 private:
  struct Worker {
    std::unique_ptr<Network> network;
    std::vector<Buffer> buffers;
    std::vector<float*> unused;
    std::vector<std::size_t> indices;
    std::vector<Placement> placements;
    Partials partials;
    Score score;
    std::uint64_t audited = 0;
    Track* track = nullptr;
    int last_shard = -1;          // whose gradients leave at once
    Span last_node;               // it is the last one of this node
    std::vector<float*> pending;  // left siblings that it will be added to, the outermost first
    std::size_t summed = 0;       // gradients that are sums up to last_node already
    std::vector<std::size_t> missing;  // of each run that leaves, floats that are not
    bool is_sparse = false;            // its arrays, of which parts are dropped
    double squares = 0;                // of the last shard's gradients, as they were completed
    float* take(std::size_t floats);
  };

  ShardSums(const Model& model, int shards, int threads)
      : model_(model), shards_(shards), team_(threads) {}

  static Track* track_of(const StepInput& input, int thread) {
    return input.timeline == nullptr ? nullptr : &input.timeline->track(thread);
  }

  // departure.cpp:
  void prepare_departure(const StepInput& input, Span run);
  void begin_walk(Window& window, bool training, int threads);
  void pass_by(const StepInput& input);
  void carry(Worker& worker, const StepInput& input, float* sums, Range range);
  void depart(const StepInput& input);
  void depart_rest(const StepInput& input, const Partials& all);
  void announce(Worker& worker, const StepInput& input, Range range);
  void leave(const Departure& departure, const Partials& parts);
  static void look_at(Worker& worker, const StepInput& input, float* sums, Range range);

  [[nodiscard]] std::function<void()> enter_of(Window* window, const Worker& worker) const;

  // The part of this rank's run that a thread gets: if there are fewer shards than threads, the
  // first ones, since only the first thread hands over what leaves.
  [[nodiscard]] Span part_for(Span run, int thread) const {
    const int parts = std::clamp(run.size(), 1, team_.size());
    return thread < parts ? part_of(run, parts, thread) : Span{run.hi, run.hi};
  }

  void merge(const StepInput& input, const Partials& parts);
  float* node_sum(Worker& worker, const StepInput& input, Span node);
  void shard_sum(Worker& worker, const StepInput& input, int shard, float* sums);

  const Model& model_;
  int shards_;
  Team team_;
  std::vector<Worker> workers_;
  // Of the step under way:
  std::vector<Span> nodes_;                   // of this rank
  std::vector<std::atomic<int>> unfinished_;  // workers, by run that leaves
  std::size_t departed_ = 0;                  // runs
};

}  // namespace dts::train
