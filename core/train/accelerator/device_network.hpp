// SPDX-License-Identifier: Apache-2.0
// A model on a device: forward and backward pass of one virtual shard, like model/network.hpp on a
// thread.
#pragma once

#include "core/train/accelerator/device_blocks.hpp"
#include "core/train/accelerator/queue/device_laps.hpp"
#include "core/train/accelerator/queue/pass_graphs.hpp"
#include "core/train/model/network.hpp"

#include <array>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace dts::train::accelerator {

// Passes are enqueued: their results appear in device memory later. Every function may throw
// DeviceError. Not thread-safe.
class DeviceNetwork {
 public:
  struct Training {
    Objective objective;
    bool with_nan = false;      // for tests: the first logit is NaN
    bool with_squares = false;  // Scalar::squares
    // If set, is called before each block's forward pass and then on each visit of
    // Plan::backward_visits(), with the weights that it reads. The pass is then enqueued kernel by
    // kernel, otherwise as graphs.
    std::function<void(Range)> enter = nullptr;
    DeviceLaps* laps = nullptr;               // if set, measures data, forward and backward
    std::span<const Placement> placements{};  // by image; empty: without augmentation
  };

  // `model` and the queue must outlive this. `notify` is passed to PassGraphs.
  DeviceNetwork(const Model& model,
                int micro_batch,
                Precision precision,
                Queue& queue,
                ActivationStorage storage = {},
                std::function<void(const std::string&)> notify = nullptr);

  // Overwrites `sums` [Layout::sum_floats()] as Network::train() does. `weights` and `sums` are in
  // device memory. `indices` has micro_batch samples.
  void train(const Samples& samples,
             std::span<const std::size_t> indices,
             const float* weights,
             const Training& training,
             float* sums);

  // Evaluates samples [first, first + count), count <= micro_batch. `running` is in device memory,
  // too.
  [[nodiscard]] Score evaluate(const Samples& samples,
                               std::size_t first,
                               std::size_t count,
                               const float* weights,
                               const float* running,
                               const std::function<void(Range)>& enter = nullptr);

  // Computes the products, and keeps the rounded copies of arrays.
  [[nodiscard]] Products& products() { return blocks_.products(); }

  [[nodiscard]] int micro_batch() const { return plan_.micro_batch(); }

  [[nodiscard]] const Plan& plan() const { return plan_; }

  [[nodiscard]] const PassGraphs& graphs() const { return graphs_; }

 private:
  // Memory into which samples are copied while the pass before still reads its own.
  struct InputBuffer {
    float* images = nullptr;
    std::uint32_t* words = nullptr;  // as words_
    Event read;
  };

  void load(const Samples& samples,
            std::span<const std::size_t> indices,
            std::span<const Placement> placements);
  void forward(const Pass& pass, const std::function<void(Range)>& enter);
  void head(int rows, const Objective& objective, bool has_gradient);
  template <class Value>
  void launch_head(int rows, const Objective& objective, bool has_gradient);
  void add_scalars(const Training& training, float* sums);

  const Model& model_;
  Queue& queue_;
  DeviceBlocks blocks_;
  Plan plan_;
  PassGraphs graphs_;
  SampleReader reader_;
  std::vector<float> images_;  // the plan's input in host memory
  std::size_t tokens_;         // number of tokens in a pass
  std::size_t predictions_;
  std::vector<std::uint32_t> words_;  // tokens, their positions ordered by token, labels
  std::array<InputBuffer, 2> input_buffers_;
  std::size_t next_ = 0;
  std::uint32_t* labels_;  // one per prediction, like losses_ and correct_
  float* losses_;
  float* correct_;
  double* squares_;
  int logits_pitch_ = 0;  // floats from one row of logits to the next
};

}  // namespace dts::train::accelerator
