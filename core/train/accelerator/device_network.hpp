// SPDX-License-Identifier: Apache-2.0
// A model on a device: forward and backward of one virtual shard, as model/network.hpp
// has it on a thread.
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

// What comes of a pass is in the device's memory, later. Everything throws DeviceError. Not
// thread-safe.
class DeviceNetwork {
 public:
  struct Training {
    Objective objective;
    bool with_nan = false;      // for tests: the first logit is NaN
    bool with_squares = false;  // Scalar::squares
    // If set, is called before each block's forward pass, and then on each visit of the way back
    // (Plan::way_back), with the weights that it reads; the pass is then enqueued piece by piece,
    // otherwise as graphs.
    std::function<void(Range)> enter = nullptr;
    DeviceLaps* laps = nullptr;               // data, forward and backward, if set
    std::span<const Placement> placements{};  // of each image; none: as they are
  };

  // `model` and the queue must outlive it. `told` as PassGraphs has it.
  DeviceNetwork(const Model& model,
                int micro_batch,
                Precision precision,
                Queue& queue,
                Keeping keeping = {},
                std::function<void(const std::string&)> told = nullptr);

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

  // What rounds factors, and has copies of arrays that are rounded already.
  [[nodiscard]] Products& products() { return blocks_.products(); }

  [[nodiscard]] int micro_batch() const { return plan_.micro_batch(); }

  [[nodiscard]] const Plan& plan() const { return plan_; }

  [[nodiscard]] const PassGraphs& graphs() const { return graphs_; }

 private:
  // Where samples of a pass wait until the pass before it has read its own.
  struct Arrived {
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
  std::vector<float> images_;  // what the plan reads, before it is on the device
  std::size_t tokens_;         // of all samples
  std::size_t predictions_;
  std::vector<std::uint32_t> words_;  // tokens, their places by token, labels
  std::array<Arrived, 2> arrived_;
  std::size_t next_ = 0;
  std::uint32_t* labels_;  // of all predictions, as are losses_ and correct_
  float* losses_;
  float* correct_;
  double* squares_;
  int logits_pitch_ = 0;  // floats from one row of logits to the next
};

}  // namespace dts::train::accelerator
