// SPDX-License-Identifier: Apache-2.0
// Causal attention without its weights in memory: 64 queries and 64 keys at a time. The weights of
// a row are relative to the largest score so far and its sum (M. Milakov and N. Gimelshein, "Online
// Normalizer Calculation for Softmax", 2018; T. Dao, "FlashAttention-2", 2023). The backward pass
// recomputes them. The gradients of queries, and those of keys and values, have a kernel each, in
// which one block adds up everything for a value, in order. A block computes 64 columns of one
// head's output, so that threads can keep their sums; wider heads have several blocks, which
// compute the same weights. With PlainFactors all arrays are fp32. With TensorFactors they are
// bf16, as are the weights and the gradients of scores that products read.
#pragma once

#include "core/train/accelerator/kernels/attention_tiles.hpp"

namespace dts::train::accelerator {

// out = softmax(scale q k^T) v, and for each position and head the logarithm of the sum of its
// weights.
template <class Factors>
struct AttendForward : Attend<Factors> {
  using Base = Attend<Factors>;
  using Place = typename Base::Place;
  using Part = typename Base::Part;
  using Side = typename Base::Side;
  using Base::k_threads;
  using Base::rows_of;
  using Base::shape;

  struct Shared {
    Side queries;
    Side keys;
    Side values;
    typename Factors::PartsSide weights;
    RowParts<Part> parts;
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
    typename Block::template Kept<Part> scores(block);
    typename Block::template Kept<Part> sums(block);
    typename Block::template Kept<Rows> rows(block);
    block.each_in_warps([&](int thread) {
      sums[thread].clear();
      for (int i = 0; i < Part::k_rows; ++i) {
        rows[thread].largest[i] = -INFINITY;
        rows[thread].sum[i] = 0;
      }
    });
    for (int key_tile = 0; key_tile <= place.tile; ++key_tile) {
      const int key_head = place.head / shape.group();
      const auto queries = this->rows_factor(this->q, place.sample, place.tile, place.head);
      const auto keys = this->rows_factor(this->k, place.sample, key_tile, key_head);
      if (this->holds_tiles())
        fetch_all<Factors>(block, [&](int thread) {
          if (key_tile == 0) this->fetch_tile(shared.queries, thread, queries);
          this->fetch_tile(shared.keys, thread, keys);
          this->fetch_tile(
              shared.values, thread, this->rows_factor(this->v, place.sample, key_tile, key_head));
        });
      this->multiply_rows(block, shared.queries, shared.keys, scores, queries, keys, key_tile > 0);
      block.each_in_warps(
          [&](int thread) { find_maxima(thread, shared, scores[thread], place, key_tile); });
      block.each_in_warps([&](int thread) {
        make_weights(thread, shared, scores[thread], sums[thread], rows[thread], place, key_tile);
      });
      add_product_of_parts<Factors>(
          block,
          shared.weights,
          shared.values,
          sums,
          scores,
          rows_of(place.tile),
          this->columns_factor(this->v, place.sample, key_tile, key_head, place.column),
          rows_of(key_tile),
          this->holds_tiles());
    }
    block.each_in_warps([&](int thread) {
      for (int i = 0; i < Part::k_rows; ++i)
        shared.parts.values[Part::row(thread, i)][Part::row_lane(thread)] = rows[thread].sum[i];
    });
    block.each_in_warps(
        [&](int thread) { finish(thread, shared, sums[thread], rows[thread], place); });
  }

 private:
  // State of a thread's rows: the largest score so far, and the sum of the weights in the thread's
  // own columns.
  struct Rows {
    float largest[Part::k_rows];
    float sum[Part::k_rows];
  };

  // Finds the largest scores in a thread's own columns.
  DTS_BLOCK_CODE void find_maxima(
      int thread, Shared& shared, Part& scores, const Place& place, int key_tile) const {
    for (int i = 0; i < Part::k_rows; ++i) {
      const int row = Part::row(thread, i);
      const int visible = this->visible_keys(place.tile, row, key_tile);
      float largest = -INFINITY;
      scores.for_each_of_row(thread, i, [&](int column, float score) {
        if (column < visible) largest = Larger()(largest, score * shape.scale);
      });
      shared.parts.values[row][Part::row_lane(thread)] = largest;
    }
  }

  // Turns scores into weights relative to the largest score so far, and rescales earlier sums to
  // it.
  DTS_BLOCK_CODE void make_weights(int thread,
                                   const Shared& shared,
                                   Part& scores,
                                   Part& sums,
                                   Rows& rows,
                                   const Place& place,
                                   int key_tile) const {
    for (int i = 0; i < Part::k_rows; ++i) {
      const int row = Part::row(thread, i);
      const int visible = this->visible_keys(place.tile, row, key_tile);
      const float largest = shared.parts.folded(row, rows.largest[i], Larger());
      const float rescale = expf(rows.largest[i] - largest);
      float sum = 0;
      scores.for_each_of_row(thread, i, [&](int column, float& score) {
        const float weight = expf(score * shape.scale - largest);
        score = column < visible ? weight : 0.0F;  // without a branch for each
        sum += score;
      });
      sums.for_each_of_row(thread, i, [&](int, float& value) { value *= rescale; });
      rows.sum[i] = rows.sum[i] * rescale + sum;
      rows.largest[i] = largest;
    }
  }

  DTS_BLOCK_CODE void finish(
      int thread, const Shared& shared, Part& sums, const Rows& rows, const Place& place) const {
    for (int i = 0; i < Part::k_rows; ++i) {
      const int row = Part::row(thread, i);
      const float sum = shared.parts.folded(row, 0, Sum());
      this->write_row(thread, i, sums, out, place, [&](float value) { return value / sum; });
      if (place.column == 0 && Part::row_lane(thread) == 0 && row < rows_of(place.tile))
        log_sums[shape.head_begin(place.sample, place.head) +
                 static_cast<std::size_t>(place.tile * k_tile + row)] = rows.largest[i] + logf(sum);
    }
  }
};

}  // namespace dts::train::accelerator
