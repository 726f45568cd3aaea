// SPDX-License-Identifier: Apache-2.0
// The backward pass of attention.hpp: the gradients of keys and values.
#pragma once

#include "core/train/accelerator/kernels/attention_backward.hpp"

namespace dts::train::accelerator {

// The gradients of keys and values; runs after AttendQueries. The contributions of the queries of a
// group are added in the order of the group.
template <class Factors>
struct AttendKeys : AttendBackward<Factors> {
  using Base = AttendBackward<Factors>;
  using Place = typename Base::Place;
  using Part = typename Base::Part;
  using Rows = typename Base::Rows;
  using Base::d_out;
  using Base::rows_of;
  using Base::shape;

  using Shared = typename Base::Sides;

  // Four parts of products per thread need registers.
  static constexpr int k_blocks_together = 2;

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
    typename Block::template Kept<Part> key_gradients(block);
    typename Block::template Kept<Part> value_gradients(block);
    block.each_in_warps([&](int thread) {
      key_gradients[thread].clear();
      value_gradients[thread].clear();
    });
    const Rows left[] = {this->rows_factor(this->k, keys.sample, keys.tile, keys.head),
                         this->rows_factor(this->v, keys.sample, keys.tile, keys.head)};
    bool has_left = false;
    for (int member = 0; member < shape.group(); ++member)
      for (int tile = keys.tile; tile < shape.tiles(); ++tile) {
        const Place place{keys.sample, keys.head * shape.group() + member, tile};
        const Rows right[] = {this->rows_factor(this->q, place.sample, tile, place.head),
                              this->rows_factor(d_out, place.sample, tile, place.head)};
        fetch_all<Factors>(block, [&](int thread) {
          load_query_sums(thread, shared, place);
          this->fetch_sides(shared, thread, left, right, has_left);
        });
        this->multiply_rows(block, shared.left, shared.right, weights, left[0], right[0], has_left);
        block.each_in_warps(
            [&](int thread) { make_weights(thread, shared, weights[thread], keys, tile); });
        this->add_columns(block,
                          shared,
                          shared.d_right,
                          value_gradients,
                          weights,
                          rows_of(keys.tile),
                          d_out,
                          place,
                          keys.column);
        this->multiply_rows(
            block, shared.d_left, shared.d_right, gradients, left[1], right[1], has_left);
        block.each_in_warps([&](int thread) {
          make_score_gradients(thread, shared, weights[thread], gradients[thread]);
        });
        this->add_columns(block,
                          shared,
                          shared.right,
                          key_gradients,
                          weights,
                          rows_of(keys.tile),
                          this->q,
                          place,
                          keys.column);
        has_left = true;
      }
    block.each_in_warps([&](int thread) {
      this->write_rows(thread, key_gradients, d_k, keys);
      this->write_rows(thread, value_gradients, d_v, keys);
    });
  }

 private:
  // Loads the values of a tile of queries; zeros for queries that do not exist.
  DTS_BLOCK_CODE void load_query_sums(int thread, Shared& shared, const Place& place) const {
    if (thread >= k_tile) return;
    const bool exists = thread < rows_of(place.tile);
    shared.log_sums[thread] = exists ? this->log_sums[this->position(place, thread)] : 0.0F;
    shared.deltas[thread] = exists ? deltas[this->position(place, thread)] : 0.0F;
  }

  // Turns scores into weights: zero for keys that a query of that tile must not see.
  DTS_BLOCK_CODE void make_weights(
      int thread, const Shared& shared, Part& scores, const Place& keys, int tile) const {
    for (int i = 0; i < Part::k_rows; ++i) {
      const int first = (keys.tile - tile) * k_tile + Part::row(thread, i);
      scores.for_each_of_row(thread, i, [&](int query, float& value) {
        const bool is_visible = query >= first && query < rows_of(tile);
        value = this->weight(value, shared.log_sums[query], is_visible);
      });
    }
  }

  // Turns weights into the gradients of scores.
  DTS_BLOCK_CODE void make_score_gradients(int thread,
                                           const Shared& shared,
                                           Part& weights,
                                           const Part& gradients) const {
    for (int i = 0; i < Part::k_rows; ++i)
      weights.for_each_of_row(thread, i, gradients, [&](int query, float& weight, float gradient) {
        weight = this->score_gradient(weight, gradient, shared.deltas[query]);
      });
  }
};

}  // namespace dts::train::accelerator
