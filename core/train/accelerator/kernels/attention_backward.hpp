// SPDX-License-Identifier: Apache-2.0
// The backward pass of attention.hpp.
#pragma once

#include "core/train/accelerator/kernels/attention.hpp"

namespace dts::train::accelerator {

// The base of both kernels of it.
template <class Factors>
struct AttendBackward : Attend<Factors> {
  using Base = Attend<Factors>;
  using Place = typename Base::Place;
  using Base::k_parts;
  using Base::k_threads;
  using Base::rows_of;
  using Base::shape;

  struct Shared {
    Factors factors;
    Tile tile;  // weights, and then gradients of scores
    float parts[k_tile][k_parts];
    float deltas[k_tile];
  };

  typename Base::Given d_out;
  const float* log_sums = nullptr;  // what the forward pass gave

  template <class Visit>
  void reads_backward(const Visit& visit) const {
    this->reads_all(visit);
    this->reads_rows(visit, d_out, shape.heads);
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
  template <class Block, class Kept>
  DTS_BLOCK_CODE void make_weights(
      const Block& block, Shared& shared, Kept& weights, const Place& place, int key_tile) const {
    this->make_scores(block, shared.factors, weights, place, key_tile);
    block.each([&](int thread) {
      weights[thread].for_each(
          thread, size_of(place, key_tile), [&](int row, int column, float& value) {
            const float score = value * shape.scale - log_sums[position(place, row)];
            value = this->is_seen(place.tile, row, key_tile, column) ? expf(score) : 0.0F;
            shared.tile.values[row][column] = value;
          });
    });
  }

  // The gradients of their scores, before the scale, in the tile. `deltas`: of the tile's rows.
  template <class Block, class Kept>
  DTS_BLOCK_CODE void make_gradients(const Block& block,
                                     Shared& shared,
                                     Kept& weights,
                                     Kept& kept,
                                     const Place& place,
                                     int key_tile,
                                     const float* deltas) const {
    this->clear(block, kept);
    add_product<k_threads>(
        block,
        shared.factors,
        kept,
        this->rows_factor(d_out, place.sample, place.tile, place.head),
        this->rows_factor(this->v, place.sample, key_tile, place.head / shape.group()),
        shape.width);
    block.each([&](int thread) {
      const auto& weight = weights[thread];
      kept[thread].for_each(
          thread, size_of(place, key_tile), [&](int row, int column, float value) {
            shared.tile.values[row][column] =
                weight.at(thread, row, column) * (value - deltas[row]) * shape.scale;
          });
    });
  }

  // sums += left right, of the block's columns of a head, where `right` says which rows of `of`.
  template <class Block, class Kept, class Left>
  DTS_BLOCK_CODE void add_columns(const Block& block,
                                  Shared& shared,
                                  Kept& sums,
                                  const Left& left,
                                  const typename Base::Given& of,
                                  const Place& right,
                                  int column) const {
    add_product<k_threads>(block,
                           shared.factors,
                           sums,
                           left,
                           this->columns_factor(of, right.sample, right.tile, right.head, column),
                           rows_of(right.tile));
  }
};

// The gradients of queries, and for each position and head what the sum of its weights' gradients
// is: that of the products of the output and its gradient.
template <class Factors>
struct AttendQueries : AttendBackward<Factors> {
  using Base = AttendBackward<Factors>;
  using Place = typename Base::Place;
  using Shared = typename Base::Shared;
  using Base::k_parts;
  using Base::rows_of;
  using Base::shape;

  typename Base::Given out;
  HeadRows<typename Base::Stored> d_q;
  float* deltas = nullptr;  // [batch][heads][context]

  [[nodiscard]] std::size_t blocks() const { return shape.blocks(shape.heads); }

  template <class Visit>
  void accesses(const Visit& visit) const {
    this->reads_backward(visit);
    this->reads_rows(visit, out, shape.heads);
    this->writes_rows(visit, d_q, shape.heads);
    accelerator::writes(visit, deltas, shape.positions());
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& shared) const {
    const Place place(block.index(), shape.heads, shape);
    make_deltas(block, shared, place);
    typename Block::template Kept<typename Base::Part> weights(block);
    typename Block::template Kept<typename Base::Part> kept(block);
    typename Block::template Kept<typename Base::Part> sums(block);
    this->clear(block, sums);
    const int key_head = place.head / shape.group();
    for (int key_tile = 0; key_tile <= place.tile; ++key_tile) {
      this->make_weights(block, shared, weights, place, key_tile);
      this->make_gradients(block, shared, weights, kept, place, key_tile, shared.deltas);
      this->add_columns(block,
                        shared,
                        sums,
                        TileFactor<false>{&shared.tile, rows_of(place.tile)},
                        this->k,
                        {place.sample, key_head, key_tile},
                        place.column);
    }
    block.each([&](int thread) {
      this->write_part(thread, sums, d_q, place, [](int, float value) { return value; });
    });
  }

 private:
  template <class Block>
  DTS_BLOCK_CODE void make_deltas(const Block& block, Shared& shared, const Place& place) const {
    block.each([&](int thread) {
      const int in_tile = thread / k_parts;
      if (in_tile >= rows_of(place.tile)) return;
      const std::int64_t at = this->row(place.sample, place.tile) + in_tile;
      const auto* const given = out.row(at, place.head, shape.width);
      const auto* const d_given = this->d_out.row(at, place.head, shape.width);
      float sum = 0;
      strided<k_parts>(thread % k_parts, shape.width, [&](int i) {
        sum += value_of(given[i]) * value_of(d_given[i]);
      });
      shared.parts[in_tile][thread % k_parts] = sum;
    });
    block.each([&](int thread) {
      if (thread >= rows_of(place.tile)) return;
      float sum = 0;
      for (const float one : shared.parts[thread]) sum += one;
      shared.deltas[thread] = sum;
      if (place.column == 0) deltas[this->position(place, thread)] = sum;
    });
  }
};

// The gradients of keys and values, after those of queries. What the queries of a group add is
// added in the order of the group.
template <class Factors>
struct AttendKeys : AttendBackward<Factors> {
  using Base = AttendBackward<Factors>;
  using Place = typename Base::Place;
  using Shared = typename Base::Shared;
  using Base::rows_of;
  using Base::shape;

  const float* deltas = nullptr;
  HeadRows<typename Base::Stored> d_k;
  HeadRows<typename Base::Stored> d_v;

  [[nodiscard]] std::size_t blocks() const { return shape.blocks(shape.keys); }

  template <class Visit>
  void accesses(const Visit& visit) const {
    this->reads_backward(visit);
    accelerator::reads(visit, deltas, shape.positions());
    this->writes_rows(visit, d_k, shape.keys);
    this->writes_rows(visit, d_v, shape.keys);
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& shared) const {
    const Place keys(block.index(), shape.keys, shape);
    typename Block::template Kept<typename Base::Part> weights(block);
    typename Block::template Kept<typename Base::Part> kept(block);
    typename Block::template Kept<typename Base::Part> of_keys(block);
    typename Block::template Kept<typename Base::Part> of_values(block);
    this->clear(block, of_keys);
    this->clear(block, of_values);
    const TileFactor<true> left{&shared.tile, rows_of(keys.tile)};
    for (int member = 0; member < shape.group(); ++member)
      for (int tile = keys.tile; tile < shape.tiles(); ++tile) {
        const Place place{keys.sample, keys.head * shape.group() + member, tile};
        this->make_weights(block, shared, weights, place, keys.tile);
        this->add_columns(block, shared, of_values, left, this->d_out, place, keys.column);
        const float* const of_tile = deltas + this->position(place, 0);
        this->make_gradients(block, shared, weights, kept, place, keys.tile, of_tile);
        this->add_columns(block, shared, of_keys, left, this->q, place, keys.column);
      }
    block.each([&](int thread) {
      const auto as_it_is = [](int, float value) { return value; };
      this->write_part(thread, of_keys, d_k, keys, as_it_is);
      this->write_part(thread, of_values, d_v, keys, as_it_is);
    });
  }
};

}  // namespace dts::train::accelerator
