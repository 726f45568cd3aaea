// SPDX-License-Identifier: Apache-2.0
// The memory of one network, and the blocks that compute in it. Not thread-safe.
#pragma once

#include "core/train/memory/activation_storage.hpp"
#include "core/train/model/block_maker.hpp"
#include "core/train/model/blocks.hpp"
#include "core/train/model/model.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace dts::train {

class Plan {
 public:
  // For `micro_batch` samples at once, on the processor, or with the blocks of `maker`. `model` and
  // `maker` must outlive the plan.
  Plan(const Model& model,
       int micro_batch,
       Precision precision = Precision::fp32,
       ActivationStorage storage = {});
  Plan(const Model& model,
       int micro_batch,
       Precision precision,
       BlockMaker& maker,
       ActivationStorage storage = {});

  [[nodiscard]] const Layout& layout() const { return model_.layout; }

  [[nodiscard]] int micro_batch() const { return micro_batch_; }

  // The precision of the products and convolutions of new blocks.
  [[nodiscard]] Precision precision() const { return precision_; }

  [[nodiscard]] BlockMaker& maker() { return maker_; }

  // Memory filled with zeros and aligned to a cache line; valid as long as the plan. Blocks may
  // share it if their backward passes never need it at the same time.
  [[nodiscard]] float* floats(std::size_t count) {
    floats_ += count;
    return maker_.floats(count);
  }

  // The number of floats handed out so far.
  [[nodiscard]] std::size_t floats_in_all() const { return floats_; }

  // Layers follow each other without gaps, as do a layer's blocks. All but the last block of a
  // layer must write to memory from layer_floats(), which layers share if they are recomputed; the
  // last block writes to output_floats().
  void begin_layer();
  void end_layer(float* input, std::size_t count);

  [[nodiscard]] float* layer_floats(std::size_t count);

  // The input of layer `number`, counted from 0, which is also the output of the layer before. The
  // number after the last layer's is that layer's output.
  [[nodiscard]] float* output_floats(std::size_t number, std::size_t count);

  // Activations with their own gradient.
  [[nodiscard]] Edge edge(std::size_t count) { return {floats(count), floats(count)}; }

  // Images, [micro_batch][channels][side + 2 padding][side + 2 padding], without gradient. The
  // value is nullptr for tokens.
  [[nodiscard]] Edge input() const { return input_; }

  // [micro_batch][context]; nullptr for images.
  [[nodiscard]] std::uint32_t* tokens() const { return tokens_; }

  void add(std::unique_ptr<Block> block) { blocks_.push_back(std::move(block)); }

  // The output of the last block: [micro_batch][predictions][classes]. `room` is the
  // Projection::room of the block that computes it.
  void set_logits(Edge logits, int room = 0) {
    logits_ = logits;
    logits_room_ = room;
  }

  [[nodiscard]] Edge logits() const { return logits_; }

  [[nodiscard]] int logits_room() const { return logits_room_; }

  // In the order of the forward pass.
  [[nodiscard]] const std::vector<std::unique_ptr<Block>>& blocks() const { return blocks_; }

  // A step of a training after its forward pass: the backward pass of a block, or, if `again`,
  // another forward pass.
  struct Visit {
    Block* block = nullptr;
    bool again = false;

    [[nodiscard]] Range reads() const {
      return again ? block->reads() : block->reads_in_backward();
    }
  };

  [[nodiscard]] std::vector<Visit> backward_visits() const;

  // What the blocks read, in the order in which they read it, in a training, or, without backward
  // passes, in an evaluation.
  [[nodiscard]] std::vector<Range> reads(bool training) const;

 private:
  // A run of blocks.
  struct Layer {
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  void begin();

  const Model& model_;
  int micro_batch_;
  Precision precision_;
  ActivationStorage storage_;
  std::unique_ptr<BlockMaker> own_;  // the processor's, if no other was given
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

  std::vector<Piece> shared_;            // by all layers that are recomputed
  std::size_t next_shared_ = 0;          // the next of shared_ for this layer
  std::vector<float*> offload_outputs_;  // outputs, used in turn if they are offloaded
};

}  // namespace dts::train
