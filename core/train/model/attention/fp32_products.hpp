// SPDX-License-Identifier: Apache-2.0
// The products of attention in fp32, which read and write the arrays in place.
#pragma once

#include "core/train/model/attention/head.hpp"
#include "core/train/model/gemm.hpp"

#include <algorithm>

namespace dts::train {

// For one head after another. Throws what multiply() throws. Not thread-safe.
class Fp32Products {
 public:
  explicit Fp32Products(const Attention& shape) : shape_(shape) {}

  // Selects the head for the following calls.
  void enter(const Head& head) { head_ = head; }

  void enter_backward(const Head& head) {
    head_ = head;
    if (!head.is_first) return;
    clear(head.keys, shape_.keys);
    clear(head.values, shape_.values);
  }

  void leave_backward() {}

  // scores = queries keys^T
  void scores(const Part& part, float* scores) { across(part, queries(), keys(), scores); }

  // out = weights values
  void sums(const Part& part, const float* weights) {
    along(part, weights, values(), {head_.out.value, out_pitch(shape_)});
  }

  // d_values += weights^T d_out, d_weights = d_out values^T
  void sums_backward(const Part& part, const float* weights, float* d_weights) {
    const Factor d_out{head_.out.gradient, out_pitch(shape_)};
    down(part, weights, d_out, {head_.values.gradient, shape_.values.pitch});
    across(part, d_out, values(), d_weights);
  }

  // d_queries = d_scores keys, d_keys += d_scores^T queries
  void scores_backward(const Part& part, const float* d_scores) {
    along(part, d_scores, keys(), {head_.queries.gradient, shape_.queries.pitch});
    down(part, d_scores, queries(), {head_.keys.gradient, shape_.keys.pitch});
  }

 private:
  struct Place {
    float* values = nullptr;
    int pitch = 0;
  };

  [[nodiscard]] Factor queries() const { return {head_.queries.value, shape_.queries.pitch}; }

  [[nodiscard]] Factor keys() const { return {head_.keys.value, shape_.keys.pitch}; }

  [[nodiscard]] Factor values() const { return {head_.values.value, shape_.values.pitch}; }

  // The part's rows of the rows of a head.
  static Factor rows_of(const Part& part, const Factor& all) {
    return {all.values + area(part.first, all.pitch), all.pitch};
  }

  // [rows][width] of `left` times [columns][width] of `right`, transposed: [rows][columns].
  void across(const Part& part, const Factor& left, const Factor& right, float* scores) const {
    multiply(rows_of(part, left),
             {right.values, right.pitch, true},
             shape_.width,
             {scores, part.rows, part.columns, part.columns});
  }

  // [rows][columns] times [columns][width] of `right`: [rows][width], at the part's rows of `to`.
  void along(const Part& part, const float* scores, const Factor& right, const Place& to) const {
    multiply({scores, part.columns},
             right,
             part.columns,
             {to.values + area(part.first, to.pitch), part.rows, shape_.width, to.pitch});
  }

  // [rows][columns], transposed, times [rows][width] of `right`: added to [columns][width].
  void down(const Part& part, const float* scores, const Factor& right, const Place& to) const {
    multiply({scores, part.columns, true},
             rows_of(part, right),
             part.rows,
             {to.values, part.columns, shape_.width, to.pitch},
             true);
  }

  void clear(const Edge& edge, const Heads& heads) const {
    for_each_row(shape_.context, heads.pitch, shape_.width, [&](std::size_t at, std::size_t) {
      std::fill_n(edge.gradient + at, shape_.width, 0.0F);
    });
  }

  Attention shape_;
  Head head_;
};

}  // namespace dts::train
