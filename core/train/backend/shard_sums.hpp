// SPDX-License-Identifier: Apache-2.0
// The backend for processors: adds up one rank's run of shards on all threads of the rank.
#pragma once

#include "core/base/result.hpp"
#include "core/train/backend/backend.hpp"
#include "core/train/memory/buffer.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace dts::train {

// Each thread computes a contiguous part of the rank's run, as each rank computes a contiguous part
// of all shards, so that neither number changes a bit of the result. Holds at most 2 log2(shards) +
// 2 arrays of sums per thread. Not thread-safe.
class ShardSums : public Backend {
 public:
  // `model` must outlive it.
  [[nodiscard]] static Result<std::unique_ptr<ShardSums>> create(
      const Model& model,
      int shards,
      int micro_batch,
      int threads,
      Precision precision = Precision::fp32,
      ActivationStorage storage = {});

  [[nodiscard]] Partials sum(const StepInput& input, Span run) override;

  [[nodiscard]] std::uint64_t audited() const override;

  [[nodiscard]] std::uint64_t recompute(const StepInput& input) override;

  [[nodiscard]] Score evaluate(const Samples& samples,
                               const float* weights,
                               const float* running,
                               int parts,
                               int part) override;

  [[nodiscard]] Score evaluate_within(Window& window,
                                      const Samples& samples,
                                      const float* weights,
                                      const float* running,
                                      int parts,
                                      int part) override;

  [[nodiscard]] Team& team() override { return team_; }

  [[nodiscard]] const Layout& layout() const override { return model_.layout; }

  [[nodiscard]] int at_once() const override { return team_.size(); }

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
    int last_shard = -1;          // whose gradients are handed over as they are completed
    Span last_node;               // the node of this thread's part in which last_shard comes last
    std::vector<float*> pending;  // left siblings that last_shard is added to, outermost first
    std::size_t summed = 0;       // leading gradients that are summed up to last_node already
    std::vector<std::size_t> missing;  // by bucket: floats that are not final yet
    bool is_sparse = false;            // parts of its arrays are dropped
    double squares = 0;                // of the last shard's gradients, added as they complete
    float* take(std::size_t floats);
  };

  ShardSums(const Model& model, int shards, int threads)
      : model_(model), shards_(shards), team_(threads) {}

  static Track* track_of(const StepInput& input, int thread) {
    return input.timeline == nullptr ? nullptr : &input.timeline->track(thread);
  }

  // gradient_buckets.cpp:
  void prepare_buckets(const StepInput& input, Span run);
  void take_part_without_shard(const StepInput& input);
  void carry(Worker& worker, const StepInput& input, float* sums, Range range);
  void hand_over(const StepInput& input);
  void hand_over_rest(const StepInput& input, const Partials& all);
  void announce(Worker& worker, const StepInput& input, Range range);
  void hand_over_next(const GradientBuckets& buckets, const Partials& parts);
  static void look_at(Worker& worker, const StepInput& input, float* sums, Range range);

  [[nodiscard]] std::function<void()> enter_of(Window* window, const Worker& worker) const;

  // The part of this rank's run that a thread gets. If there are fewer shards than threads, the
  // first threads get one each, since only the first thread hands over buckets.
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
  // State of the current step:
  std::vector<Span> nodes_;                   // nodes of this rank's run
  std::vector<std::atomic<int>> unfinished_;  // number of workers, by bucket
  std::size_t handed_over_ = 0;               // number of buckets
};

}  // namespace dts::train
