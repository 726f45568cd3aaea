// SPDX-License-Identifier: Apache-2.0
// The memory of one thread's network, and the blocks that compute in it. Not thread-safe.
#pragma once

#include "core/train/memory/buffer.hpp"
#include "core/train/model/blocks.hpp"
#include "core/train/model/model.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace dts::train {

class Plan {
 public:
  // For `micro_batch` samples at once. `model` must outlive the plan.
  Plan(const Model& model, int micro_batch, Precision precision = Precision::fp32);

  [[nodiscard]] const Layout& layout() const { return model_.layout; }

  [[nodiscard]] int micro_batch() const { return micro_batch_; }

  // Of the products and convolutions that are added.
  [[nodiscard]] Precision precision() const { return precision_; }

  // Zero, aligned to a cache line; valid as long as the plan. Blocks whose backward passes never
  // need it at the same time may share it.
  [[nodiscard]] float* floats(std::size_t count);

  // Activations with a gradient of their own.
  [[nodiscard]] Edge edge(std::size_t count) { return {floats(count), floats(count)}; }

  // Images, [micro_batch][channels][side + 2 padding][side + 2 padding]; no gradient. nullptr for
  // tokens.
  [[nodiscard]] Edge input() const { return input_; }

  // [micro_batch][context]; nullptr for images.
  [[nodiscard]] const std::uint32_t* tokens() const { return tokens_.data(); }

  void add(std::unique_ptr<Block> block) { blocks_.push_back(std::move(block)); }

  // What the blocks end in: [micro_batch][predictions][classes].
  void set_logits(Edge logits) { logits_ = logits; }

  // Of all that floats() gave.
  [[nodiscard]] std::size_t bytes() const;

 private:
  friend class Network;

  const Model& model_;
  int micro_batch_;
  Precision precision_;
  std::deque<Buffer> buffers_;
  std::vector<std::uint32_t> tokens_;
  Edge input_;
  Edge logits_;
  std::vector<std::unique_ptr<Block>> blocks_;
};

}  // namespace dts::train
