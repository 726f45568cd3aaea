// SPDX-License-Identifier: Apache-2.0
// The products of attention in bf16. They use copies of a head's rows, rounded and without gaps,
// because oneDNN's products from and into arrays with gaps are slower by a quarter.
#pragma once

#include "core/train/memory/buffer.hpp"
#include "core/train/model/attention/head.hpp"
#include "core/train/model/gemm.hpp"

#include <algorithm>
#include <vector>

namespace dts::train {

// Has the interface of Fp32Products. Throws dnnl::error or std::bad_alloc.
class Bf16Products {
 public:
  explicit Bf16Products(const Attention& shape)
      : shape_(shape),
        queries_(area(shape.context, shape.width)),
        keys_(area(shape.context, shape.width)),
        values_(area(shape.context, shape.width)),
        d_out_(area(shape.context, shape.width)),
        scores_(area(k_rows_at_a_time, shape.context)),
        d_keys_(area(shape.context, shape.width)),
        d_values_(area(shape.context, shape.width)),
        rows_(area(k_rows_at_a_time, shape.width)) {
    for (int first = 0; first < shape.context; first += k_rows_at_a_time) {
      const int rows = std::min(k_rows_at_a_time, shape.context - first);
      of_parts_.emplace_back(rows, first + rows, shape.width);
    }
  }

  void enter(const Head& head) {
    head_ = head;
    round(head.queries.value, shape_.queries.pitch, queries_);
    if (!head.is_first) return;
    round(head.keys.value, shape_.keys.pitch, keys_);
    round(head.values.value, shape_.values.pitch, values_);
  }

  void enter_backward(const Head& head) {
    enter(head);
    round(head.out.gradient, out_pitch(shape_), d_out_);
    if (!head.is_first) return;
    std::fill_n(d_keys_.data(), d_keys_.size(), 0.0F);
    std::fill_n(d_values_.data(), d_values_.size(), 0.0F);
  }

  void leave_backward() {
    if (!head_.is_last) return;
    copy(d_keys_, shape_.context, head_.keys.gradient, shape_.keys.pitch);
    copy(d_values_, shape_.context, head_.values.gradient, shape_.values.pitch);
  }

  void scores(const Part& part, float* scores) {
    of(part).across.compute(from(queries_, part), keys_.data(), scores);
  }

  void sums(const Part& part, const float* weights) {
    of(part).along.compute(rounded(part, weights), values_.data(), rows_.data());
    copy(
        rows_, part.rows, head_.out.value + area(part.first, out_pitch(shape_)), out_pitch(shape_));
  }

  void sums_backward(const Part& part, const float* weights, float* d_weights) {
    of(part).down.compute(rounded(part, weights), from(d_out_, part), d_values_.data());
    of(part).across.compute(from(d_out_, part), values_.data(), d_weights);
  }

  void scores_backward(const Part& part, const float* d_scores) {
    Bf16* const factor = rounded(part, d_scores);
    of(part).along.compute(factor, keys_.data(), rows_.data());
    copy(rows_,
         part.rows,
         head_.queries.gradient + area(part.first, shape_.queries.pitch),
         shape_.queries.pitch);
    of(part).down.compute(factor, from(queries_, part), d_keys_.data());
  }

 private:
  // The products of a part's rows [rows][width] and its scores [rows][columns].
  struct PartProducts {
    Bf16Product across;  // rows with all columns: scores
    Bf16Product along;   // scores with [columns][width]: rows
    Bf16Product down;    // added: scores, transposed, with rows: [columns][width]

    PartProducts(int rows, int columns, int width)
        : across({.rows = rows, .inner = width, .columns = columns, .is_b_transposed = true}),
          along({.rows = rows, .inner = columns, .columns = width}),
          down({.rows = columns,
                .inner = rows,
                .columns = width,
                .is_a_transposed = true,
                .adds = true}) {}
  };

  [[nodiscard]] PartProducts& of(const Part& part) {
    return of_parts_[static_cast<std::size_t>(part.first / k_rows_at_a_time)];
  }

  [[nodiscard]] Bf16* from(Bf16Array& rows, const Part& part) const {
    return rows.data() + area(part.first, shape_.width);
  }

  Bf16* rounded(const Part& part, const float* scores) {
    round_to_bf16(scores, area(part.rows, part.columns), scores_.data());
    return scores_.data();
  }

  void round(const float* rows, int pitch, Bf16Array& to) const {
    for_each_row(shape_.context, pitch, shape_.width, [&](std::size_t at, std::size_t dense) {
      round_to_bf16(rows + at, static_cast<std::size_t>(shape_.width), to.data() + dense);
    });
  }

  void copy(const Buffer& rows, int count, float* to, int pitch) const {
    for_each_row(count, pitch, shape_.width, [&](std::size_t at, std::size_t dense) {
      std::copy_n(rows.data() + dense, shape_.width, to + at);
    });
  }

  Attention shape_;
  Head head_;
  Bf16Array queries_;
  Bf16Array keys_;
  Bf16Array values_;
  Bf16Array d_out_;
  Bf16Array scores_;
  Buffer d_keys_;
  Buffer d_values_;
  Buffer rows_;
  std::vector<PartProducts> of_parts_;
};

}  // namespace dts::train
