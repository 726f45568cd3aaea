// SPDX-License-Identifier: Apache-2.0
// The backward pass of attention.hpp.
#pragma once

#include "core/train/accelerator/kernels/attention.hpp"

namespace dts::train::accelerator {

// The base of both kernels of it. A product of queries and keys is [query][key] in one of them and
// [key][query] in the other, so that what threads keep of it is a left factor in both.
template <class Factors>
struct AttendBackward : Attend<Factors> {
  using Base = Attend<Factors>;
  using Place = typename Base::Place;
  using Part = typename Base::Part;
  using Side = typename Base::Side;
  using Base::k_threads;
  using Base::rows_of;
  using Base::shape;

  struct Shared {
    Side left;    // of scores
    Side d_left;  // of the gradients of weights
    Side kept;    // weights, and then gradients of scores
    Side right;
    RowParts<Part> parts;
  };

  typename Base::Given d_out;
  const float* log_sums = nullptr;  // what the forward pass gave

  template <class Visit>
  void reads_backward(const Visit& visit) const {
    this->reads_all(visit);
    this->reads_rows(visit, d_out, shape.heads);
    accelerator::reads(visit, log_sums, shape.positions());
  }

  // The position of a tile's row, of a head.
  [[nodiscard]] DTS_BLOCK_CODE std::size_t position(const Place& place, int row) const {
    return shape.of_head(place.sample, place.head) +
           static_cast<std::size_t>(place.tile * k_tile + row);
  }

  // The weight of a score of a tile of queries and one of keys.
  [[nodiscard]] DTS_BLOCK_CODE float weight(
      const Place& place, int query, int key_tile, int key, float score) const {
    return this->is_seen(place.tile, query, key_tile, key)
               ? expf(score * shape.scale - log_sums[position(place, query)])
               : 0.0F;
  }

  // The gradient of a score, before the scale, from its weight's. `delta`: of the query.
  [[nodiscard]] DTS_BLOCK_CODE float of_score(float weight, float gradient, float delta) const {
    return weight * (gradient - delta) * shape.scale;
  }

  // sums += left right, of the block's columns of a head, where `right` says which rows of `of`.
  template <class Block, class Kept, class Parts>
  DTS_BLOCK_CODE void add_columns(const Block& block,
                                  Shared& shared,
                                  Kept& sums,
                                  Parts& left,
                                  int rows,
                                  const typename Base::Given& of,
                                  const Place& right,
                                  int column) const {
    add_product_of_parts<k_threads, Factors>(
        block,
        shared.kept,
        shared.right,
        sums,
        left,
        rows,
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
  using Part = typename Base::Part;
  using Shared = typename Base::Shared;
  using Base::d_out;
  using Base::k_threads;
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
    typename Block::template Kept<Part> weights(block);
    typename Block::template Kept<Part> gradients(block);
    typename Block::template Kept<Part> sums(block);
    typename Block::template Kept<Deltas> of_rows(block);
    block.each([&](int thread) { add_deltas(thread, shared, place); });
    block.each([&](int thread) {
      sums[thread].clear();
      for (int i = 0; i < Part::k_rows; ++i)
        of_rows[thread].values[i] = delta(shared, Part::row(thread, i));
      if (place.column == 0 && thread < rows_of(place.tile))
        deltas[this->position(place, thread)] = delta(shared, thread);
    });
    for (int key_tile = 0; key_tile <= place.tile; ++key_tile) {
      const Place keys{place.sample, place.head / shape.group(), key_tile};
      this->multiply_rows(block,
                          shared.left,
                          shared.right,
                          weights,
                          this->rows_factor(this->q, place.sample, place.tile, place.head),
                          this->rows_factor(this->k, place.sample, key_tile, keys.head),
                          key_tile > 0);
      this->multiply_rows(block,
                          shared.d_left,
                          shared.right,
                          gradients,
                          this->rows_factor(d_out, place.sample, place.tile, place.head),
                          this->rows_factor(this->v, place.sample, key_tile, keys.head),
                          key_tile > 0);
      block.each([&](int thread) {
        const Deltas mine = of_rows[thread];
        for (int i = 0; i < Part::k_rows; ++i) {
          const int row = Part::row(thread, i);
          weights[thread].for_each_of_row(
              thread, i, gradients[thread], [&](int column, float& value, float gradient) {
                const float weight = this->weight(place, row, key_tile, column, value);
                value = this->of_score(weight, gradient, mine.values[i]);
              });
        }
      });
      this->add_columns(
          block, shared, sums, weights, rows_of(place.tile), this->k, keys, place.column);
    }
    block.each([&](int thread) { this->write_rows(thread, sums, d_q, place); });
  }

 private:
  static constexpr int k_parts = k_threads / k_tile;  // threads that add up a row

  struct Deltas {
    float values[Part::k_rows];
  };

  DTS_BLOCK_CODE void add_deltas(int thread, Shared& shared, const Place& place) const {
    const int in_tile = thread / k_parts;
    float sum = 0;
    if (in_tile < rows_of(place.tile)) {
      const std::int64_t at = this->row(place.sample, place.tile) + in_tile;
      const auto* const given = out.row(at, place.head, shape.width);
      const auto* const d_given = d_out.row(at, place.head, shape.width);
      strided<k_parts>(thread % k_parts, shape.width, [&](int i) {
        sum += value_of(given[i]) * value_of(d_given[i]);
      });
    }
    shared.parts.values[in_tile][thread % k_parts] = sum;
  }

  [[nodiscard]] DTS_BLOCK_CODE static float delta(const Shared& shared, int row) {
    float sum = 0;
    for (int part = 0; part < k_parts; ++part) sum += shared.parts.values[row][part];
    return sum;
  }
};

// The gradients of keys and values, after those of queries. What the queries of a group add is
// added in the order of the group.
template <class Factors>
struct AttendKeys : AttendBackward<Factors> {
  using Base = AttendBackward<Factors>;
  using Place = typename Base::Place;
  using Part = typename Base::Part;
  using Shared = typename Base::Shared;
  using Base::d_out;
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
    typename Block::template Kept<Part> weights(block);
    typename Block::template Kept<Part> gradients(block);
    typename Block::template Kept<Part> of_keys(block);
    typename Block::template Kept<Part> of_values(block);
    block.each([&](int thread) {
      of_keys[thread].clear();
      of_values[thread].clear();
    });
    bool has_left = false;
    for (int member = 0; member < shape.group(); ++member)
      for (int tile = keys.tile; tile < shape.tiles(); ++tile) {
        const Place place{keys.sample, keys.head * shape.group() + member, tile};
        this->multiply_rows(block,
                            shared.left,
                            shared.right,
                            weights,
                            this->rows_factor(this->k, keys.sample, keys.tile, keys.head),
                            this->rows_factor(this->q, place.sample, place.tile, place.head),
                            has_left);
        block.each([&](int thread) {
          for (int i = 0; i < Part::k_rows; ++i)
            weights[thread].for_each_of_row(thread, i, [&](int query, float& value) {
              value = this->weight(place, query, keys.tile, Part::row(thread, i), value);
            });
        });
        this->add_columns(
            block, shared, of_values, weights, rows_of(keys.tile), d_out, place, keys.column);
        this->multiply_rows(block,
                            shared.d_left,
                            shared.right,
                            gradients,
                            this->rows_factor(this->v, keys.sample, keys.tile, keys.head),
                            this->rows_factor(d_out, place.sample, place.tile, place.head),
                            has_left);
        block.each(
            [&](int thread) { end_scores(thread, weights[thread], gradients[thread], place); });
        this->add_columns(
            block, shared, of_keys, weights, rows_of(keys.tile), this->q, place, keys.column);
        has_left = true;
      }
    block.each([&](int thread) {
      this->write_rows(thread, of_keys, d_k, keys);
      this->write_rows(thread, of_values, d_v, keys);
    });
  }

 private:
  // Weights become the gradients of scores. Those of queries that are not there are zero.
  DTS_BLOCK_CODE void end_scores(int thread,
                                 Part& weights,
                                 const Part& gradients,
                                 const Place& place) const {
    const float* const of_tile = deltas + this->position(place, 0);
    for (int i = 0; i < Part::k_rows; ++i)
      weights.for_each_of_row(thread, i, gradients, [&](int query, float& weight, float gradient) {
        const float delta = query < rows_of(place.tile) ? of_tile[query] : 0.0F;
        weight = this->of_score(weight, gradient, delta);
      });
  }
};

}  // namespace dts::train::accelerator
