// SPDX-License-Identifier: Apache-2.0
// A model on a device: forward and backward of one virtual shard, as model/network.hpp
// has it on a thread.
#pragma once

#include "core/train/accelerator/device_blocks.hpp"
#include "core/train/model/network.hpp"

#include <functional>
#include <span>
#include <vector>

namespace dts::train::accelerator {

// What comes of a pass is in the device's memory, later. Everything throws DeviceError. Not
// thread-safe.
class DeviceNetwork {
 public:
  struct Training {
    Objective objective;
    bool with_nan = false;      // for tests: the first logit is NaN
    bool with_squares = false;  // Scalar::squares
    // If set, is called before each block's forward, and then before each one's backward pass, with
    // the weights that it reads.
    std::function<void(Range)> enter = nullptr;
    Stopwatch* watch = nullptr;               // laps data, forward and backward, if set
    std::span<const Placement> placements{};  // of each image; none: as they are
  };

  // `model` and the queue must outlive it.
  DeviceNetwork(const Model& model, int micro_batch, Precision precision, Queue& queue);

  // Overwrites `sums` [Layout::sum_floats()] as Network::train() does; `weights` and `sums` are the
  // device's. `indices` are micro_batch samples.
  void train(const Samples& samples,
             std::span<const std::size_t> indices,
             const float* weights,
             const Training& training,
             float* sums);

  // Of samples [first, first + count), count <= micro_batch; `running` are the device's, too.
  [[nodiscard]] Score evaluate(const Samples& samples,
                               std::size_t first,
                               std::size_t count,
                               const float* weights,
                               const float* running,
                               const std::function<void(Range)>& enter = nullptr);

  [[nodiscard]] int micro_batch() const { return plan_.micro_batch(); }

  [[nodiscard]] const Plan& plan() const { return plan_; }

 private:
  void load(const Samples& samples,
            std::span<const std::size_t> indices,
            std::span<const Placement> placements);
  void forward(const Pass& pass, const std::function<void(Range)>& enter);
  void head(int rows, const Objective& objective, bool has_gradient);
  void add_scalars(const Training& training, float* sums);

  const Model& model_;
  Queue& queue_;
  DeviceBlocks blocks_;
  Plan plan_;
  SampleReader reader_;
  std::vector<float> images_;  // what the plan reads, before it is on the device
  std::vector<std::uint32_t> tokens_;
  std::vector<std::uint32_t> host_labels_;
  std::uint32_t* labels_;  // of all predictions, as are losses_ and correct_
  float* losses_;
  float* correct_;
  double* squares_;
};

}  // namespace dts::train::accelerator
