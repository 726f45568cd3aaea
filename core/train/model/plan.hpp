// SPDX-License-Identifier: Apache-2.0
// The memory of one network, and the blocks that compute in it. Not thread-safe.
#pragma once

#include "core/train/memory/keeping.hpp"
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
  Plan(const Model& model,
       int micro_batch,
       Precision precision = Precision::fp32,
       Keeping keeping = {});
  Plan(const Model& model,
       int micro_batch,
       Precision precision,
       BlockMaker& maker,
       Keeping keeping = {});

  [[nodiscard]] const Layout& layout() const { return model_.layout; }

  [[nodiscard]] int micro_batch() const { return micro_batch_; }

  // Of the products and convolutions that are added.
  [[nodiscard]] Precision precision() const { return precision_; }

  [[nodiscard]] BlockMaker& maker() { return maker_; }

  // Zero, aligned to a cache line; valid as long as the plan. Blocks whose backward passes never
  // need it at the same time may share it.
  [[nodiscard]] float* floats(std::size_t count) {
    floats_ += count;
    return maker_.floats(count);
  }

  // All of them so far.
  [[nodiscard]] std::size_t floats_in_all() const { return floats_; }

  // Layers follow each other, and a layer's blocks each other. Of what its blocks write, all but
  // the last one's comes from layer_floats(), which is another layer's memory, too, if it is
  // computed once more; and what the last one writes, from output_floats().
  void begin_layer();
  void end_layer(float* input, std::size_t count);

  [[nodiscard]] float* layer_floats(std::size_t count);

  // What a layer reads: its `number` is that of the layer, counted from 0. One after the last layer
  // is what that one writes.
  [[nodiscard]] float* output_floats(std::size_t number, std::size_t count);

  // Activations with a gradient of their own.
  [[nodiscard]] Edge edge(std::size_t count) { return {floats(count), floats(count)}; }

  // Images, [micro_batch][channels][side + 2 padding][side + 2 padding]; no gradient. nullptr for
  // tokens.
  [[nodiscard]] Edge input() const { return input_; }

  // [micro_batch][context]; nullptr for images.
  [[nodiscard]] std::uint32_t* tokens() const { return tokens_; }

  void add(std::unique_ptr<Block> block) { blocks_.push_back(std::move(block)); }

  // What the blocks end in: [micro_batch][predictions][classes]. `room`: Projection::room of what
  // gives them.
  void set_logits(Edge logits, int room = 0) {
    logits_ = logits;
    logits_room_ = room;
  }

  [[nodiscard]] Edge logits() const { return logits_; }

  [[nodiscard]] int logits_room() const { return logits_room_; }

  // In the order of the forward pass.
  [[nodiscard]] const std::vector<std::unique_ptr<Block>>& blocks() const { return blocks_; }

  // What a training does after its forward pass, in this order: a block's forward pass once more,
  // or its backward pass.
  struct Visit {
    Block* block = nullptr;
    bool again = false;

    [[nodiscard]] Range reads() const { return again ? block->reads() : block->reads_again(); }
  };

  [[nodiscard]] std::vector<Visit> way_back() const;

  // What the blocks read, in the order in which they do: those of a training, or, without their
  // backward passes, of an evaluation.
  [[nodiscard]] std::vector<Range> reads(bool training) const;

 private:
  // Of blocks.
  struct Layer {
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  void begin();

  const Model& model_;
  int micro_batch_;
  Precision precision_;
  Keeping keeping_;
  std::unique_ptr<BlockMaker> own_;  // of the processor
  BlockMaker& maker_;
  std::uint32_t* tokens_ = nullptr;
  Edge input_;
  Edge logits_;
  int logits_room_ = 0;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::size_t floats_ = 0;
  std::vector<Layer> layers_;
  bool in_layer_ = false;

  struct Piece {
    float* at = nullptr;
    std::size_t count = 0;
  };

  std::vector<Piece> shared_;        // by all layers
  std::size_t next_shared_ = 0;      // of this layer
  std::vector<float*> alternately_;  // outputs, if they do not stay
};

}  // namespace dts::train
