// SPDX-License-Identifier: Apache-2.0
// A model on one thread: forward and backward of one virtual shard.
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

// Of an evaluation. Sums of integers, so that their order does not matter.
struct Score {
  std::int64_t correct = 0;     // predictions
  std::int64_t loss = 0;        // in k_loss_unit, each prediction's rounded
  std::int64_t not_finite = 0;  // predictions whose loss is in no sum

  // Predictions of one loss in all.
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

// Has its own activations and oneDNN primitives. Not thread-safe: only the thread that created it
// may use it (oneDNN takes the number of threads from the creating thread's OpenMP setting, which
// create() sets to one).
class Network {
 public:
  struct Training {
    const float* weights = nullptr;  // [Layout::parameter_floats]
    Objective objective;
    bool with_nan = false;  // for tests: something that goes in is NaN
    // If set, is told during the backward pass of each range of gradients that is final. The ranges
    // cover all parameters, each once; in general from the last one to the first.
    std::function<void(Range)> ready = nullptr;
    // If set, is called before each block's forward pass, and then on each visit of the way back
    // (Plan::way_back), and the weights that it reads are there until the next call; prepare() is
    // not needed then.
    std::function<void()> enter = nullptr;
    Stopwatch* watch = nullptr;               // laps data, forward and backward, if set
    std::span<const Placement> placements{};  // of each image; none: as they are
  };

  // Errc::internal if oneDNN has no implementation or memory runs out. `model` must outlive it.
  [[nodiscard]] static Result<std::unique_ptr<Network>> create(
      const Model& model,
      int micro_batch,
      Precision precision = Precision::fp32,
      Keeping keeping = {});

  // The thread must call this after `weights` [Layout::parameter_floats] changed.
  void prepare(const float* weights);

  // Overwrites `sums` [Layout::sum_floats()] with this shard's gradients of scale * loss, batch
  // statistics, loss and number of correct predictions. `indices` are micro_batch samples.
  void train(const Samples& samples,
             std::span<const std::size_t> indices,
             const Training& training,
             float* sums);

  // As if it trained, and with the same calls of `enter` and `ready`, but does nothing else.
  void pass_by(const Training& training);

  // Plan::reads().
  [[nodiscard]] std::vector<Range> reads(bool training) const { return plan_.reads(training); }

  [[nodiscard]] const Plan& plan() const { return plan_; }

  // Of samples [first, first + count), count <= micro_batch. `enter` as in Training.
  [[nodiscard]] Score evaluate(const Samples& samples,
                               std::size_t first,
                               std::size_t count,
                               const float* weights,
                               const float* running,
                               const std::function<void()>& enter = nullptr);

  [[nodiscard]] int micro_batch() const { return plan_.micro_batch(); }

 private:
  Network(const Model& model, int micro_batch, Precision precision, Keeping keeping);

  [[nodiscard]] SampleReader::Input input() {
    return {plan_.input().value, plan_.tokens(), labels_.data()};
  }

  void forward(const Pass& pass, const std::function<void()>& enter);
  HeadResult head(const Objective& objective);
  void back(const Pass& pass, const Training& training);

  const Model& model_;
  Plan plan_;
  SampleReader reader_;
  std::vector<std::uint32_t> labels_;  // of all predictions
  std::vector<std::size_t> indices_;
};

}  // namespace dts::train
