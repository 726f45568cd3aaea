// SPDX-License-Identifier: Apache-2.0
// The memory of one network, and the blocks that compute in it. Not thread-safe.
#pragma once

#include "core/train/model/block_maker.hpp"
#include "core/train/model/blocks.hpp"
#include "core/train/model/model.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace dts::train {

class Plan {
 public:
  // For `micro_batch` samples at once, on the processor or where `maker` makes blocks. `model` and
  // `maker` must outlive the plan.
  Plan(const Model& model, int micro_batch, Precision precision = Precision::fp32);
  Plan(const Model& model, int micro_batch, Precision precision, BlockMaker& maker);

  [[nodiscard]] const Layout& layout() const { return model_.layout; }

  [[nodiscard]] int micro_batch() const { return micro_batch_; }

  // Of the products and convolutions that are added.
  [[nodiscard]] Precision precision() const { return precision_; }

  [[nodiscard]] BlockMaker& maker() { return maker_; }

  // Zero, aligned to a cache line; valid as long as the plan. Blocks whose backward passes never
  // need it at the same time may share it.
  [[nodiscard]] float* floats(std::size_t count) { return maker_.floats(count); }

  // Activations with a gradient of their own.
  [[nodiscard]] Edge edge(std::size_t count) { return {floats(count), floats(count)}; }

  // Images, [micro_batch][channels][side + 2 padding][side + 2 padding]; no gradient. nullptr for
  // tokens.
  [[nodiscard]] Edge input() const { return input_; }

  // [micro_batch][context]; nullptr for images.
  [[nodiscard]] std::uint32_t* tokens() const { return tokens_; }

  void add(std::unique_ptr<Block> block) { blocks_.push_back(std::move(block)); }

  // What the blocks end in: [micro_batch][predictions][classes].
  void set_logits(Edge logits) { logits_ = logits; }

  [[nodiscard]] Edge logits() const { return logits_; }

  // In the order of the forward pass.
  [[nodiscard]] const std::vector<std::unique_ptr<Block>>& blocks() const { return blocks_; }

  // What the blocks read, in the order in which they do: those of a training, or, without their
  // backward passes, of an evaluation.
  [[nodiscard]] std::vector<Range> reads(bool training) const;

 private:
  void begin();

  const Model& model_;
  int micro_batch_;
  Precision precision_;
  std::unique_ptr<BlockMaker> own_;  // of the processor
  BlockMaker& maker_;
  std::uint32_t* tokens_ = nullptr;
  Edge input_;
  Edge logits_;
  std::vector<std::unique_ptr<Block>> blocks_;
};

}  // namespace dts::train
