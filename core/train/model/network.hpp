// SPDX-License-Identifier: Apache-2.0
// cnn2 on one thread: forward and backward of one virtual shard.
#pragma once

#include "core/base/result.hpp"
#include "core/train/data/dataset.hpp"
#include "core/train/device/buffer.hpp"
#include "core/train/model/blocks.hpp"

#include <memory>
#include <span>
#include <vector>

namespace dts::train {

// Has its own activations and oneDNN primitives. Not thread-safe: only the thread that created it
// may use it (oneDNN takes the number of threads from the creating thread's OpenMP setting, which
// create() sets to one).
class Network {
 public:
  // Errc::internal if oneDNN has no implementation or memory runs out.
  [[nodiscard]] static Result<std::unique_ptr<Network>> create(const Layout& layout,
                                                               int micro_batch);

  // The thread must call this after `weights` [Layout::parameter_floats] changed.
  void prepare(const float* weights);

  // Overwrites `sums` [Layout::sum_floats()] with this shard's gradients of scale * loss, batch
  // statistics, loss and number of correct predictions. `indices` are micro_batch samples.
  // `with_nan`, for tests: one input is NaN.
  void train(const Samples& samples,
             std::span<const std::size_t> indices,
             const float* weights,
             float scale,
             float* sums,
             bool with_nan = false);

  // The number of correct predictions among samples [first, first + count), count <= micro_batch.
  [[nodiscard]] int evaluate(const Samples& samples,
                             std::size_t first,
                             std::size_t count,
                             const float* weights,
                             const float* running);

  [[nodiscard]] int micro_batch() const { return micro_batch_; }

 private:
  enum class Gradient { wanted, none };

  Network(const Layout& layout, int micro_batch);
  [[nodiscard]] Edge edge(std::size_t floats, Gradient gradient = Gradient::wanted);
  void load(const Samples& samples, std::span<const std::size_t> indices);
  HeadResult head(float scale);

  Layout layout_;
  int micro_batch_;
  std::vector<Buffer> buffers_;
  std::vector<std::uint8_t> labels_;
  std::vector<std::size_t> indices_;
  Edge input_;
  Edge logits_;
  std::vector<std::unique_ptr<Block>> blocks_;
};

}  // namespace dts::train
