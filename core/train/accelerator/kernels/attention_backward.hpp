// SPDX-License-Identifier: Apache-2.0
// The backward pass of attention.hpp.
#pragma once

#include "core/train/accelerator/kernels/attention.hpp"

#include <initializer_list>

namespace dts::train::accelerator {

// The base of both kernels of it.
struct AttendBackward : Attend {
  template <class Factors>
  struct SharedOf {
    Factors factors;
    Tile tile;  // weights, and then gradients of scores
    float parts[k_tile][k_parts];
  };

  HeadRowsOf d_out;
  const float* log_sums = nullptr;  // what the forward pass gave

  template <class Visit>
  void reads_backward(const Visit& visit) const {
    reads_all(visit);
    d_out.for_each_row(
        shape.batch * shape.context,
        shape.heads,
        shape.width,
        [&](const float* at, std::size_t count) { accelerator::reads(visit, at, count); });
    accelerator::reads(visit, log_sums, shape.positions());
  }

  [[nodiscard]] DTS_BLOCK_CODE TileSize size_of(const Place& place, int key_tile) const {
    return {rows_of(place.tile), rows_of(key_tile)};
  }

  // The position of a tile's row, of a head.
  [[nodiscard]] DTS_BLOCK_CODE std::size_t position(const Place& place, int row) const {
    return shape.of_head(place.sample, place.head) +
           static_cast<std::size_t>(place.tile * k_tile + row);
  }

  // Weights of a tile of queries and one of keys, as threads keep them, and in the tile.
  template <class Block, class Shared, class Kept>
  DTS_BLOCK_CODE void make_weights(
      const Block& block, Shared& shared, Kept& weights, const Place& place, int key_tile) const {
    add_scores(block, shared.factors, weights, place, key_tile);
    block.each([&](int thread) {
      weights[thread].for_each(
          thread, size_of(place, key_tile), [&](int row, int column, float& value) {
            const float score = value * shape.scale - log_sums[position(place, row)];
            value = is_seen(place.tile, row, key_tile, column) ? expf(score) : 0.0F;
            shared.tile.values[row][column] = value;
          });
    });
  }

  // The gradients of their scores, before the scale, in the tile. deltas [batch][heads][context].
  template <class Block, class Shared, class Kept>
  DTS_BLOCK_CODE void make_gradients(const Block& block,
                                     Shared& shared,
                                     Kept& weights,
                                     Kept& kept,
                                     const Place& place,
                                     int key_tile,
                                     const float* deltas) const {
    block.each([&](int thread) { kept[thread].clear(); });
    add_product<k_threads>(block,
                           shared.factors,
                           kept,
                           rows_factor(d_out, place.sample, place.tile, place.head),
                           rows_factor(v, place.sample, key_tile, place.head / shape.group()),
                           shape.width);
    block.each([&](int thread) {
      const auto& weight = weights[thread];
      kept[thread].for_each(
          thread, size_of(place, key_tile), [&](int row, int column, float value) {
            shared.tile.values[row][column] = weight.at(thread, row, column) *
                                              (value - deltas[position(place, row)]) * shape.scale;
          });
    });
  }

  // `to` += left right^T of each 64 columns of a head, where the columns of `of` are the right one.
  template <class Block, class Shared, class Kept, class Left>
  DTS_BLOCK_CODE void add_head(const Block& block,
                               Shared& shared,
                               Kept& kept,
                               const Left& left,
                               const HeadRowsOf& of,
                               const Place& right,
                               const HeadRows<float>& to,
                               bool overwrites) const {
    for (int column = 0; column < shape.width; column += k_tile)
      add_columns(block,
                  shared.factors,
                  kept,
                  left,
                  columns_factor(of, right.sample, right.tile, right.head, column),
                  rows_of(right.tile),
                  {to.values + column, to.pitch},
                  overwrites,
                  [](int) { return 1.0F; });
  }
};

// The gradients of queries, and for each position and head what the sum of its weights' gradients
// is: that of the products of the output and its gradient.
template <class Factors>
struct AttendQueries : AttendBackward {
  using Shared = SharedOf<Factors>;

  HeadRowsOf out;
  HeadRows<float> d_q;
  float* deltas = nullptr;

  [[nodiscard]] std::size_t blocks() const {
    return static_cast<std::size_t>(shape.batch) *
           static_cast<std::size_t>(shape.heads * shape.tiles());
  }

  template <class Visit>
  void accesses(const Visit& visit) const {
    reads_backward(visit);
    const int rows = shape.batch * shape.context;
    out.for_each_row(rows, shape.heads, shape.width, [&](const float* at, std::size_t count) {
      accelerator::reads(visit, at, count);
    });
    d_q.for_each_row(rows, shape.heads, shape.width, [&](float* at, std::size_t count) {
      accelerator::writes(visit, at, count);
    });
    accelerator::writes(visit, deltas, shape.positions());
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& shared) const {
    const Place place(block.index(), shape.heads, shape.tiles());
    make_deltas(block, shared, place);
    typename Block::template Kept<typename Factors::Part> weights(block);
    typename Block::template Kept<typename Factors::Part> kept(block);
    const int key_head = place.head / shape.group();
    for (int key_tile = 0; key_tile <= place.tile; ++key_tile) {
      make_weights(block, shared, weights, place, key_tile);
      make_gradients(block, shared, weights, kept, place, key_tile, deltas);
      add_head(block,
               shared,
               kept,
               TileFactor<false>{&shared.tile, rows_of(place.tile)},
               k,
               {place.sample, key_head, key_tile},
               {d_q.row(row(place.sample, place.tile), place.head, shape.width), d_q.pitch},
               key_tile == 0);
    }
  }

 private:
  template <class Block>
  DTS_BLOCK_CODE void make_deltas(const Block& block, Shared& shared, const Place& place) const {
    block.each([&](int thread) {
      const int in_tile = thread / k_parts;
      if (in_tile >= rows_of(place.tile)) return;
      const std::int64_t at = row(place.sample, place.tile) + in_tile;
      const float* const given = out.row(at, place.head, shape.width);
      const float* const d_given = d_out.row(at, place.head, shape.width);
      float sum = 0;
      strided<k_parts>(thread % k_parts, shape.width, [&](int i) { sum += given[i] * d_given[i]; });
      shared.parts[in_tile][thread % k_parts] = sum;
    });
    block.each([&](int thread) {
      if (thread >= rows_of(place.tile)) return;
      float sum = 0;
      for (const float one : shared.parts[thread]) sum += one;
      deltas[position(place, thread)] = sum;
    });
  }
};

// The gradients of keys and values, after those of queries. What the queries of a group add is
// added in the order of the group.
template <class Factors>
struct AttendKeys : AttendBackward {
  using Shared = SharedOf<Factors>;

  const float* deltas = nullptr;
  HeadRows<float> d_k;
  HeadRows<float> d_v;

  [[nodiscard]] std::size_t blocks() const {
    return static_cast<std::size_t>(shape.batch) *
           static_cast<std::size_t>(shape.keys * shape.tiles());
  }

  template <class Visit>
  void accesses(const Visit& visit) const {
    reads_backward(visit);
    accelerator::reads(visit, deltas, shape.positions());
    for (const HeadRows<float>& one : {d_k, d_v})
      one.for_each_row(
          shape.batch * shape.context, shape.keys, shape.width, [&](float* at, std::size_t count) {
            accelerator::writes(visit, at, count);
          });
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& shared) const {
    const Place keys(block.index(), shape.keys, shape.tiles());
    const std::int64_t first = row(keys.sample, keys.tile);
    const HeadRows<float> to_k{d_k.row(first, keys.head, shape.width), d_k.pitch};
    const HeadRows<float> to_v{d_v.row(first, keys.head, shape.width), d_v.pitch};
    typename Block::template Kept<typename Factors::Part> weights(block);
    typename Block::template Kept<typename Factors::Part> kept(block);
    const TileFactor<true> of_keys{&shared.tile, rows_of(keys.tile)};
    for (int member = 0; member < shape.group(); ++member)
      for (int tile = keys.tile; tile < shape.tiles(); ++tile) {
        const Place place{keys.sample, keys.head * shape.group() + member, tile};
        const bool begins = member == 0 && tile == keys.tile;
        make_weights(block, shared, weights, place, keys.tile);
        add_head(block, shared, kept, of_keys, d_out, place, to_v, begins);
        make_gradients(block, shared, weights, kept, place, keys.tile, deltas);
        add_head(block, shared, kept, of_keys, q, place, to_k, begins);
      }
  }
};

}  // namespace dts::train::accelerator
