// SPDX-License-Identifier: Apache-2.0
// A model on one thread: forward and backward pass of one virtual shard.
#pragma once

#include "core/base/result.hpp"
#include "core/train/model/plan.hpp"
#include "core/train/model/sample_reader.hpp"
#include "core/train/timing/timeline.hpp"

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace dts::train {

inline constexpr double k_loss_unit = 0x1.0p-20;

// The result of an evaluation. Its sums are integers, so that their order does not matter.
struct Score {
  std::int64_t correct = 0;     // predictions
  std::int64_t loss = 0;        // in k_loss_unit; each prediction's loss is rounded
  std::int64_t not_finite = 0;  // predictions whose loss is not finite, and in no sum

  // Adds predictions whose losses add up to `of_loss`.
  void add(std::int64_t correct_ones, float of_loss) {
    correct += correct_ones;
    if (std::isfinite(of_loss))
      loss += std::llround(static_cast<double>(of_loss) / k_loss_unit);
    else
      ++not_finite;
  }

  Score& operator+=(const Score& other) {
    correct += other.correct;
    loss += other.loss;
    not_finite += other.not_finite;
    return *this;
  }
};

// Owns its activations and oneDNN primitives. Not thread-safe: only the thread that created it may
// use it (oneDNN takes the number of threads from the creating thread's OpenMP setting, which
// create() sets to one).
class Network {
 public:
  struct Training {
    const float* weights = nullptr;  // [Layout::parameter_floats]
    Objective objective;
    bool with_nan = false;  // for tests: a pixel, or with tokens a logit, is NaN
    // If set, is called in the backward pass with each range of gradients that is final. The ranges
    // cover each parameter exactly once, in general from the last to the first.
    std::function<void(Range)> ready = nullptr;
    // If set, is called before each block's forward pass, and then before each visit of
    // Plan::backward_visits(). It must make the weights that the block reads available until the
    // next call; prepare() is not needed then.
    std::function<void()> enter = nullptr;
    Stopwatch* watch = nullptr;               // if set, measures data, forward and backward
    std::span<const Placement> placements{};  // by image; empty: without augmentation
  };

  // Errc::internal if oneDNN has no implementation or memory runs out. `model` must outlive the
  // network.
  [[nodiscard]] static Result<std::unique_ptr<Network>> create(
      const Model& model,
      int micro_batch,
      Precision precision = Precision::fp32,
      ActivationStorage storage = {});

  // Must be called, on the network's thread, after `weights` [Layout::parameter_floats] changed.
  void prepare(const float* weights);

  // Overwrites `sums` [Layout::sum_floats()] with this shard's gradients of scale * loss, batch
  // statistics, loss and number of correct predictions. `indices` has micro_batch samples.
  void train(const Samples& samples,
             std::span<const std::size_t> indices,
             const Training& training,
             float* sums);

  // Calls `enter` and `ready` as train() would, and does nothing else.
  void call_hooks(const Training& training);

  // Plan::reads().
  [[nodiscard]] std::vector<Range> reads(bool training) const { return plan_.reads(training); }

  [[nodiscard]] const Plan& plan() const { return plan_; }

  // Evaluates samples [first, first + count), count <= micro_batch. `enter` is as in Training.
  [[nodiscard]] Score evaluate(const Samples& samples,
                               std::size_t first,
                               std::size_t count,
                               const float* weights,
                               const float* running,
                               const std::function<void()>& enter = nullptr);

  [[nodiscard]] int micro_batch() const { return plan_.micro_batch(); }

 private:
  Network(const Model& model, int micro_batch, Precision precision, ActivationStorage storage);

  [[nodiscard]] SampleReader::Input input() {
    return {plan_.input().value, plan_.tokens(), labels_.data()};
  }

  void forward(const Pass& pass, const std::function<void()>& enter);
  HeadResult head(const Objective& objective);
  void back(const Pass& pass, const Training& training);

  const Model& model_;
  Plan plan_;
  SampleReader reader_;
  std::vector<std::uint32_t> labels_;  // one per prediction
  std::vector<std::size_t> indices_;
};

}  // namespace dts::train
