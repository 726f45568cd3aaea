// SPDX-License-Identifier: Apache-2.0
// The backward pass of attention.hpp: the base of its two kernels, and the gradients of queries.
// attention_keys.hpp has the gradients of keys and values.
#pragma once

#include "core/train/accelerator/kernels/attention.hpp"

namespace dts::train::accelerator {

// The base of both kernels. A product of queries and keys is [query][key] in one of them and
// [key][query] in the other, so that what threads keep of it is a left factor in both.
template <class Factors>
struct AttendBackward : Attend<Factors> {
  using Base = Attend<Factors>;
  using Place = typename Base::Place;
  using Part = typename Base::Part;
  using Side = typename Base::Side;
  using Rows = RowsFactor<typename Base::Stored>;
  using Base::rows_of;
  using Base::shape;

  // Factors of the products that compute scores (left, right) and gradients of weights (d_left,
  // d_right).
  struct Sides {
    Side left;
    Side d_left;
    Side right;
    Side d_right;
    typename Factors::PartsSide kept;  // weights, and then gradients of scores
    float log_sums[k_tile];            // of a tile's queries
    float deltas[k_tile];
  };

  typename Base::InputRows d_out;
  const float* log_sums = nullptr;  // from the forward pass

  template <class Visit>
  void reads_backward(const Visit& visit) const {
    this->reads_all(visit);
    this->reads_rows(visit, d_out, shape.heads);
    accelerator::reads(visit, log_sums, shape.positions());
  }

  // The index of a tile's row in arrays of positions, for a head.
  [[nodiscard]] DTS_BLOCK_CODE std::size_t position(const Place& place, int row) const {
    return shape.head_begin(place.sample, place.head) +
           static_cast<std::size_t>(place.tile * k_tile + row);
  }

  // The weight for a score. expf() is called even for a key that the query must not see, because
  // otherwise each value would have a branch.
  [[nodiscard]] DTS_BLOCK_CODE float weight(float score, float log_sum, bool is_visible) const {
    const float weight = expf(score * shape.scale - log_sum);
    return is_visible ? weight : 0.0F;
  }

  // The gradient of a score before scaling, from the gradient of its weight. `delta` is the
  // query's.
  [[nodiscard]] DTS_BLOCK_CODE float score_gradient(float weight,
                                                    float gradient,
                                                    float delta) const {
    return weight * (gradient - delta) * shape.scale;
  }

  // Loads all factors of a tile's products if sides can hold them; the left ones only if not
  // `has_left`.
  DTS_BLOCK_CODE void fetch_sides(Sides& sides,
                                  int thread,
                                  const Rows (&left)[2],
                                  const Rows (&right)[2],
                                  bool has_left) const {
    if (!this->holds_tiles()) return;
    if (!has_left) {
      this->fetch_tile(sides.left, thread, left[0]);
      this->fetch_tile(sides.d_left, thread, left[1]);
    }
    this->fetch_tile(sides.right, thread, right[0]);
    this->fetch_tile(sides.d_right, thread, right[1]);
  }

  // sums += left right, for the block's columns of a head. `right` selects the rows of `of`.
  template <class Block, class Kept, class Parts>
  DTS_BLOCK_CODE void add_columns(const Block& block,
                                  Sides& sides,
                                  Side& side,
                                  Kept& sums,
                                  Parts& left,
                                  int rows,
                                  const typename Base::InputRows& of,
                                  const Place& right,
                                  int column) const {
    add_product_of_parts<Factors>(
        block,
        sides.kept,
        side,
        sums,
        left,
        rows,
        this->columns_factor(of, right.sample, right.tile, right.head, column),
        rows_of(right.tile),
        this->holds_tiles());
  }
};

// The gradients of queries, and `deltas`: for each position and head the sum of its weights times
// their gradients, which is the product of the output and its gradient.
template <class Factors>
struct AttendQueries : AttendBackward<Factors> {
  using Base = AttendBackward<Factors>;
  using Place = typename Base::Place;
  using Part = typename Base::Part;
  using Rows = typename Base::Rows;
  using Base::d_out;
  using Base::k_threads;
  using Base::rows_of;
  using Base::shape;

  struct Shared : Base::Sides {
    RowParts<Part> parts;
  };

  typename Base::InputRows out;
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
    block.each_in_warps([&](int thread) { sum_deltas(thread, shared, place); });
    block.each_in_warps([&](int thread) {
      sums[thread].clear();
      finish_deltas(thread, shared, place);
    });
    for (int key_tile = 0; key_tile <= place.tile; ++key_tile) {
      const Place keys{place.sample, place.head / shape.group(), key_tile};
      const Rows left[] = {this->rows_factor(this->q, place.sample, place.tile, place.head),
                           this->rows_factor(d_out, place.sample, place.tile, place.head)};
      const Rows right[] = {this->rows_factor(this->k, keys.sample, key_tile, keys.head),
                            this->rows_factor(this->v, keys.sample, key_tile, keys.head)};
      const bool has_left = key_tile > 0;
      fetch_all<Factors>(
          block, [&](int thread) { this->fetch_sides(shared, thread, left, right, has_left); });
      this->multiply_rows(block, shared.left, shared.right, weights, left[0], right[0], has_left);
      this->multiply_rows(
          block, shared.d_left, shared.d_right, gradients, left[1], right[1], has_left);
      block.each_in_warps([&](int thread) {
        for (int i = 0; i < Part::k_rows; ++i) {
          const int row = Part::row(thread, i);
          const int visible = this->visible_keys(place.tile, row, key_tile);
          const float log_sum = shared.log_sums[row];
          const float delta = shared.deltas[row];
          weights[thread].for_each_of_row(
              thread, i, gradients[thread], [&](int column, float& value, float gradient) {
                const float weight = this->weight(value, log_sum, column < visible);
                value = this->score_gradient(weight, gradient, delta);
              });
        }
      });
      this->add_columns(block,
                        shared,
                        shared.right,
                        sums,
                        weights,
                        rows_of(place.tile),
                        this->k,
                        keys,
                        place.column);
    }
    block.each_in_warps([&](int thread) { this->write_rows(thread, sums, d_q, place); });
  }

 private:
  static constexpr int k_parts = k_threads / k_tile;  // threads per row

  DTS_BLOCK_CODE void sum_deltas(int thread, Shared& shared, const Place& place) const {
    const int in_tile = thread / k_parts;
    float sum = 0;
    if (in_tile < rows_of(place.tile)) {
      const std::int64_t at = this->row(place.sample, place.tile) + in_tile;
      const auto* const out_row = out.row(at, place.head, shape.width);
      const auto* const d_out_row = d_out.row(at, place.head, shape.width);
      if (reads_fours())
        strided<k_parts>(thread % k_parts, shape.width / Four::k_count, [&](int i) {
          const Four of_out = read_four(out_row + i * Four::k_count, Four::k_count);
          const Four of_gradient = read_four(d_out_row + i * Four::k_count, Four::k_count);
          for (int j = 0; j < Four::k_count; ++j) sum += of_out.values[j] * of_gradient.values[j];
        });
      else
        strided<k_parts>(thread % k_parts, shape.width, [&](int i) {
          sum += value_of(out_row[i]) * value_of(d_out_row[i]);
        });
    }
    shared.parts.values[in_tile][thread % k_parts] = sum;
  }

  // Whether to read four neighbours at once: only bf16, and only if all rows are aligned for it.
  [[nodiscard]] DTS_BLOCK_CODE bool reads_fours() const {
    constexpr int k_few = Four::k_count;
    return sizeof(typename Base::Stored) < sizeof(float) && shape.width % k_few == 0 &&
           out.pitch % k_few == 0 && d_out.pitch % k_few == 0 && is_aligned<k_few>(out.values) &&
           is_aligned<k_few>(d_out.values);
  }

  // Completes the sums of sum_deltas(), by one thread per row.
  DTS_BLOCK_CODE void finish_deltas(int thread, Shared& shared, const Place& place) const {
    if (Part::row_lane(thread) > 0) return;
    for (int i = 0; i < Part::k_rows; ++i) {
      const int row = Part::row(thread, i);
      float sum = 0;
      for (int part = 0; part < k_parts; ++part) sum += shared.parts.values[row][part];
      shared.deltas[row] = sum;
      const bool exists = row < rows_of(place.tile);
      shared.log_sums[row] = exists ? this->log_sums[this->position(place, row)] : 0.0F;
      if (exists && place.column == 0) deltas[this->position(place, row)] = sum;
    }
  }
};

}  // namespace dts::train::accelerator
