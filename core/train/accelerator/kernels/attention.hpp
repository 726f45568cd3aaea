// SPDX-License-Identifier: Apache-2.0
// Causal attention without its weights in memory: 64 queries and 64 keys at a time, the weights of
// a row over the largest score so far and its sum (M. Milakov and N. Gimelshein, "Online Normalizer
// Calculation for Softmax", 2018; T. Dao, "FlashAttention-2", 2023). The backward pass computes
// them once more. Gradients of queries and those of keys and values have a kernel each, in which
// one block adds up all that a value gets, in order. Kernels are of PlainFactors or of
// TensorFactors, which round factors to bf16, weights and gradients of scores among them.
#pragma once

#include "core/train/accelerator/kernels/plain_factors.hpp"
#include "core/train/accelerator/kernels/tensor_factors.hpp"

#include <cmath>

namespace dts::train::accelerator {

// Heads one after the other in each row, as in model/token_blocks.hpp.
template <class Value>
struct HeadRows {
  Value* values = nullptr;
  int pitch = 0;

  [[nodiscard]] DTS_BLOCK_CODE Value* row(std::int64_t row, int head, int width) const {
    return values + row * pitch + head * width;
  }

  // What there is of some rows.
  template <class Each>
  void for_each_row(int rows, int heads, int width, const Each& each) const {
    for (int row = 0; row < rows; ++row)
      each(values + static_cast<std::int64_t>(row) * pitch,
           static_cast<std::size_t>(heads * width));
  }
};

using HeadRowsOf = HeadRows<const float>;

struct AttendShape {
  int batch = 0;
  int context = 0;
  int width = 0;  // of a head
  int heads = 0;  // of queries
  int keys = 0;   // heads of keys and values; each serves heads / keys in a run
  float scale = 1;

  [[nodiscard]] DTS_CODE_OF_BOTH int tiles() const { return (context + k_tile - 1) / k_tile; }

  [[nodiscard]] DTS_CODE_OF_BOTH int group() const { return heads / keys; }

  // Where a head's values of each position are, [batch][heads][context].
  [[nodiscard]] DTS_BLOCK_CODE std::size_t of_head(int sample, int head) const {
    return (static_cast<std::size_t>(sample) * static_cast<std::size_t>(heads) +
            static_cast<std::size_t>(head)) *
           static_cast<std::size_t>(context);
  }

  [[nodiscard]] std::size_t positions() const {
    return static_cast<std::size_t>(batch) * static_cast<std::size_t>(heads) *
           static_cast<std::size_t>(context);
  }
};

// The base of what has a block for each tile of each head.
struct Attend {
  static constexpr int k_threads = k_block_threads;
  static constexpr int k_blocks_together = 2;
  static constexpr int k_parts = k_threads / k_tile;  // threads of a row
  static constexpr float k_hidden = -INFINITY;

  AttendShape shape;
  HeadRowsOf q;
  HeadRowsOf k;
  HeadRowsOf v;

  // Which tile of which head a block has.
  struct Place {
    int sample = 0;
    int head = 0;
    int tile = 0;

    DTS_BLOCK_CODE Place(int of_sample, int of_head, int of_tile)
        : sample(of_sample), head(of_head), tile(of_tile) {}

    // The last tiles, which have the most to do for queries, first.
    DTS_BLOCK_CODE Place(std::size_t index, int heads, int tiles)
        : sample(static_cast<int>(index / static_cast<std::size_t>(heads * tiles))),
          head(static_cast<int>(index / static_cast<std::size_t>(tiles) %
                                static_cast<std::size_t>(heads))),
          tile(tiles - 1 - static_cast<int>(index % static_cast<std::size_t>(tiles))) {}
  };

  template <class Visit>
  void reads_all(const Visit& visit) const {
    const auto one = [&](const float* at, std::size_t count) {
      accelerator::reads(visit, at, count);
    };
    q.for_each_row(shape.batch * shape.context, shape.heads, shape.width, one);
    k.for_each_row(shape.batch * shape.context, shape.keys, shape.width, one);
    v.for_each_row(shape.batch * shape.context, shape.keys, shape.width, one);
  }

  [[nodiscard]] DTS_BLOCK_CODE int rows_of(int tile) const {
    const int left = shape.context - tile * k_tile;
    return left < k_tile ? left : k_tile;
  }

  [[nodiscard]] DTS_BLOCK_CODE std::int64_t row(int sample, int tile) const {
    return static_cast<std::int64_t>(sample) * shape.context + tile * k_tile;
  }

  // Rows of a tile as the rows of a factor.
  [[nodiscard]] DTS_BLOCK_CODE RowsFactor rows_factor(const HeadRowsOf& of,
                                                      int sample,
                                                      int tile,
                                                      int head) const {
    return {of.row(row(sample, tile), head, shape.width), of.pitch, rows_of(tile)};
  }

  // As its columns, of 64 columns of the head from `column` on.
  [[nodiscard]] DTS_BLOCK_CODE ColumnsFactor
  columns_factor(const HeadRowsOf& of, int sample, int tile, int head, int column) const {
    const int left = shape.width - column;
    return {of.row(row(sample, tile), head, shape.width) + column,
            of.pitch,
            left < k_tile ? left : k_tile};
  }

  [[nodiscard]] DTS_BLOCK_CODE static bool is_seen(int tile, int row, int key_tile, int column) {
    return key_tile * k_tile + column <= tile * k_tile + row;
  }

  // Scores of a tile of queries and one of keys, before their scale, as threads keep them.
  template <class Block, class Factors, class Kept>
  DTS_BLOCK_CODE void add_scores(
      const Block& block, Factors& factors, Kept& kept, const Place& place, int key_tile) const {
    block.each([&](int thread) { kept[thread].clear(); });
    add_product<k_threads>(block,
                           factors,
                           kept,
                           rows_factor(q, place.sample, place.tile, place.head),
                           rows_factor(k, place.sample, key_tile, place.head / shape.group()),
                           shape.width);
  }

  // `to` [row][64 columns of a head] += or = factors, where `scales(row)` is what was there before
  // counts for.
  template <class Block, class Factors, class Kept, class Left, class Scales>
  DTS_BLOCK_CODE void add_columns(const Block& block,
                                  Factors& factors,
                                  Kept& kept,
                                  const Left& left,
                                  const ColumnsFactor& right,
                                  int inner,
                                  const HeadRows<float>& to,
                                  bool overwrites,
                                  const Scales& scales) const {
    block.each([&](int thread) { kept[thread].clear(); });
    add_product<k_threads>(block, factors, kept, left, right, inner);
    block.each([&](int thread) {
      kept[thread].for_each(thread, {left.rows, right.rows}, [&](int row, int column, float sum) {
        float& value = to.values[static_cast<std::int64_t>(row) * to.pitch + column];
        value = overwrites ? sum : value * scales(row) + sum;
      });
    });
  }
};

// out = softmax(scale q k^T) v, and for each position and head the logarithm of its weights' sum.
template <class Factors>
struct AttendForward : Attend {
  struct Shared {
    Factors factors;
    Tile scores;
    float parts[k_tile][k_parts];
    float top[k_tile];
    float sum[k_tile];
    float kept[k_tile];  // the share of what was before that stays
  };

  HeadRows<float> out;
  float* log_sums = nullptr;
  Bfloat* copy = nullptr;  // of the output, if set, which has no gaps between rows then

  [[nodiscard]] std::size_t blocks() const {
    return static_cast<std::size_t>(shape.batch) *
           static_cast<std::size_t>(shape.heads * shape.tiles());
  }

  template <class Visit>
  void accesses(const Visit& visit) const {
    reads_all(visit);
    out.for_each_row(
        shape.batch * shape.context, shape.heads, shape.width, [&](float* at, std::size_t count) {
          accelerator::writes(visit, at, count);
        });
    accelerator::writes(visit, log_sums, shape.positions());
    accelerator::writes(visit, copy, shape.positions() * static_cast<std::size_t>(shape.width));
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& shared) const {
    const Place place(block.index(), shape.heads, shape.tiles());
    typename Block::template Kept<typename Factors::Part> part(block);
    for (int key_tile = 0; key_tile <= place.tile; ++key_tile) {
      add_scores(block, shared.factors, part, place, key_tile);
      const TileSize size{rows_of(place.tile), rows_of(key_tile)};
      block.each([&](int thread) {
        part[thread].for_each(thread, size, [&](int row, int column, float score) {
          shared.scores.values[row][column] =
              is_seen(place.tile, row, key_tile, column) ? score * shape.scale : k_hidden;
        });
      });
      make_weights(block, shared, size, key_tile == 0);
      add_values(block, shared, part, place, key_tile);
    }
    finish(block, shared, place);
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
      const Block& block, Shared& shared, Kept& part, const Place& place, int key_tile) const {
    for (int column = 0; column < shape.width; column += k_tile)
      add_columns(
          block,
          shared.factors,
          part,
          TileFactor<false>{&shared.scores, rows_of(place.tile)},
          columns_factor(v, place.sample, key_tile, place.head / shape.group(), column),
          rows_of(key_tile),
          {out.row(row(place.sample, place.tile), place.head, shape.width) + column, out.pitch},
          key_tile == 0,
          [&](int at) { return shared.kept[at]; });
  }

  template <class Block>
  DTS_BLOCK_CODE void finish(const Block& block, Shared& shared, const Place& place) const {
    block.each([&](int thread) {
      const int row_in_tile = thread / k_parts;
      if (row_in_tile >= rows_of(place.tile)) return;
      float* const to =
          out.row(row(place.sample, place.tile) + row_in_tile, place.head, shape.width);
      const float sum = shared.sum[row_in_tile];
      strided<k_parts>(thread % k_parts, shape.width, [&](int i) {
        to[i] /= sum;
        write_copy(copy, static_cast<std::size_t>(to - out.values + i), to[i]);
      });
      if (thread % k_parts == 0)
        log_sums[shape.of_head(place.sample, place.head) +
                 static_cast<std::size_t>(place.tile * k_tile + row_in_tile)] =
            shared.top[row_in_tile] + logf(sum);
    });
  }
};

}  // namespace dts::train::accelerator
