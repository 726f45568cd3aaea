// SPDX-License-Identifier: Apache-2.0
// Causal attention without its weights in memory: 64 queries and 64 keys at a time, the weights of
// a row over the largest score so far and its sum (M. Milakov and N. Gimelshein, "Online Normalizer
// Calculation for Softmax", 2018; T. Dao, "FlashAttention-2", 2023). The backward pass computes
// them once more. Gradients of queries and those of keys and values have a kernel each, in which
// one block adds up all that a value gets, in order. A block has 64 columns of what it gives, of
// one head, so that threads keep the sums of them; wider heads have several, which compute the same
// weights. Kernels are of PlainFactors, and all arrays are fp32, or of TensorFactors, and they are
// bf16, as are the weights and the gradients of scores that products read.
#pragma once

#include "core/train/accelerator/kernels/attention_tiles.hpp"

namespace dts::train::accelerator {

// out = softmax(scale q k^T) v, and for each position and head the logarithm of its weights' sum.
template <class Factors>
struct AttendForward : Attend<Factors> {
  using Base = Attend<Factors>;
  using Place = typename Base::Place;
  using Base::k_hidden;
  using Base::k_parts;
  using Base::k_threads;
  using Base::rows_of;
  using Base::shape;

  struct Shared {
    Factors factors;
    Tile scores;
    float parts[k_tile][k_parts];
    float top[k_tile];
    float sum[k_tile];
    float kept[k_tile];  // the share of what was before that stays
  };

  HeadRows<typename Base::Stored> out;
  float* log_sums = nullptr;

  [[nodiscard]] std::size_t blocks() const { return shape.blocks(shape.heads); }

  template <class Visit>
  void accesses(const Visit& visit) const {
    this->reads_all(visit);
    this->writes_rows(visit, out, shape.heads);
    accelerator::writes(visit, log_sums, shape.positions());
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& shared) const {
    const Place place(block.index(), shape.heads, shape);
    typename Block::template Kept<typename Base::Part> scores(block);
    typename Block::template Kept<typename Base::Part> sums(block);
    this->clear(block, sums);
    for (int key_tile = 0; key_tile <= place.tile; ++key_tile) {
      this->make_scores(block, shared.factors, scores, place, key_tile);
      const TileSize size{rows_of(place.tile), rows_of(key_tile)};
      block.each([&](int thread) {
        scores[thread].for_each(thread, size, [&](int row, int column, float score) {
          shared.scores.values[row][column] =
              this->is_seen(place.tile, row, key_tile, column) ? score * shape.scale : k_hidden;
        });
      });
      make_weights(block, shared, size, key_tile == 0);
      add_values(block, shared, sums, place, key_tile);
    }
    finish(block, shared, sums, place);
  }

 private:
  // Of the scores: over the largest so far.
  template <class Block>
  DTS_BLOCK_CODE void make_weights(const Block& block,
                                   Shared& shared,
                                   const TileSize& size,
                                   bool begins) const {
    block.each([&](int thread) {
      const int row = thread / k_parts;
      if (row >= size.rows) return;
      float top = k_hidden;
      strided<k_parts>(thread % k_parts, size.columns, [&](int i) {
        const float score = shared.scores.values[row][i];
        top = top < score ? score : top;
      });
      shared.parts[row][thread % k_parts] = top;
    });
    block.each([&](int thread) {
      if (thread >= size.rows) return;
      float top = begins ? k_hidden : shared.top[thread];
      for (const float other : shared.parts[thread]) top = top < other ? other : top;
      shared.kept[thread] = begins ? 0.0F : expf(shared.top[thread] - top);
      shared.top[thread] = top;
    });
    block.each([&](int thread) {
      const int row = thread / k_parts;
      if (row >= size.rows) return;
      float sum = 0;
      strided<k_parts>(thread % k_parts, size.columns, [&](int i) {
        const float weight = expf(shared.scores.values[row][i] - shared.top[row]);
        shared.scores.values[row][i] = weight;
        sum += weight;
      });
      shared.parts[row][thread % k_parts] = sum;
    });
    block.each([&](int thread) {
      if (thread >= size.rows) return;
      float sum = begins ? 0.0F : shared.sum[thread] * shared.kept[thread];
      for (const float other : shared.parts[thread]) sum += other;
      shared.sum[thread] = sum;
    });
  }

  template <class Block, class Kept>
  DTS_BLOCK_CODE void add_values(
      const Block& block, Shared& shared, Kept& sums, const Place& place, int key_tile) const {
    const TileSize all{rows_of(place.tile), k_tile};
    block.each([&](int thread) {
      sums[thread].for_each(
          thread, all, [&](int row, int, float& sum) { sum *= shared.kept[row]; });
    });
    const int key_head = place.head / shape.group();
    add_product<k_threads>(
        block,
        shared.factors,
        sums,
        TileFactor<false>{&shared.scores, rows_of(place.tile)},
        this->columns_factor(this->v, place.sample, key_tile, key_head, place.column),
        rows_of(key_tile));
  }

  template <class Block, class Kept>
  DTS_BLOCK_CODE void finish(const Block& block,
                             Shared& shared,
                             Kept& sums,
                             const Place& place) const {
    block.each([&](int thread) {
      this->write_part(
          thread, sums, out, place, [&](int row, float value) { return value / shared.sum[row]; });
      if (place.column == 0 && thread < rows_of(place.tile))
        log_sums[shape.of_head(place.sample, place.head) +
                 static_cast<std::size_t>(place.tile * k_tile + thread)] =
            shared.top[thread] + logf(shared.sum[thread]);
    });
  }
};

}  // namespace dts::train::accelerator
