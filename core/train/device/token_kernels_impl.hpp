// SPDX-License-Identifier: Apache-2.0
// The implementation of token_kernels.hpp; vectors.hpp explains how it is included.
#pragma once

#include "core/train/device/norm_kernels_impl.hpp"
#include "core/train/device/token_kernels.hpp"
#include "core/train/device/vector_math.hpp"

namespace dts::train::DTS_ISA {
namespace {

constexpr float k_gelu = 2 * 0.7978845608F;  // 2 sqrt(2 / pi)
constexpr float k_gelu_cubic = 0.044715F;

void gelu_forward(const float* x, std::size_t count, float* y) {
  for (std::size_t i = 0; i < count; i += k_lanes) {
    Vec v;
    load(v, x + i);
    Vec s = k_gelu * (v + k_gelu_cubic * v * v * v);
    squash(s);
    store(y + i, v * s);
  }
}

void gelu_backward(const float* x, const float* d_y, std::size_t count, float* d_x) {
  for (std::size_t i = 0; i < count; i += k_lanes) {
    Vec v;
    Vec d;
    load(v, x + i);
    load(d, d_y + i);
    Vec s = k_gelu * (v + k_gelu_cubic * v * v * v);
    squash(s);
    const Vec slope = k_gelu * (1.0F + 3 * k_gelu_cubic * v * v);
    store(d_x + i, d * (s + v * s * (1.0F - s) * slope));
  }
}

void swiglu_forward(const float* gate, const float* up, std::size_t count, float* y) {
  for (std::size_t i = 0; i < count; i += k_lanes) {
    Vec g;
    Vec u;
    load(g, gate + i);
    load(u, up + i);
    Vec s = g;
    squash(s);
    store(y + i, g * s * u);
  }
}

void swiglu_backward(const float* gate,
                     const float* up,
                     const float* d_y,
                     std::size_t count,
                     float* d_gate,
                     float* d_up) {
  for (std::size_t i = 0; i < count; i += k_lanes) {
    Vec g;
    Vec u;
    Vec d;
    load(g, gate + i);
    load(u, up + i);
    load(d, d_y + i);
    Vec s = g;
    squash(s);
    store(d_up + i, d * (g * s));
    store(d_gate + i, d * u * (s + g * s * (1.0F - s)));
  }
}

void rotate(float* x, const float* cosine, const float* sine, int half, float sign) {
  for (int i = 0; i < half; ++i) {
    const float a = x[i];
    const float b = x[i + half];
    const float s = sign * sine[i];
    x[i] = a * cosine[i] - b * s;
    x[i + half] = b * cosine[i] + a * s;
  }
}

// The number of columns that a row of scores may see.
DTS_INLINE int seen(const CausalScores& scores, int row) {
  const int count = scores.first + row + 1;
  return count < scores.columns ? count : scores.columns;
}

// Sets the row to exp(scale s - top) * inverse where it may see, and to 0 elsewhere. Returns the
// sum before the factor `inverse`.
DTS_INLINE float raise_row(const CausalScores& scores, int row, float top, float inverse) {
  float* const values = scores.values + row_at(row, scores.columns);
  const int count = seen(scores, row);
  Vec sum = {};
  for (int i = 0; i < count; i += k_lanes) {
    Vec v;
    load_next(v, values + i, count - i, 0);
    v = v * scores.scale - top;
    if (count - i < k_lanes)
      for (int lane = count - i; lane < k_lanes; ++lane) v[lane] = -100.0F;  // its power is 0
    raise(v);
    sum += v;
    store_next(values + i, v * inverse, count - i);
  }
  for (int i = count; i < scores.columns; ++i) values[i] = 0;
  return sum_lanes(sum);
}

void softmax(const CausalScores& scores, float* top, float* inverse) {
  for (int row = 0; row < scores.rows; ++row) {
    float* const values = scores.values + row_at(row, scores.columns);
    const int count = seen(scores, row);
    Vec highest = Vec{} + values[0] * scores.scale;
    for (int i = 0; i < count; i += k_lanes) {
      Vec v;
      load_next(v, values + i, count - i, values[0]);
      larger(highest, v * scores.scale);
    }
    top[row] = top_lane(highest);
    inverse[row] = 1.0F / raise_row(scores, row, top[row], 1.0F);
    for (int i = 0; i < count; ++i) values[i] *= inverse[row];
  }
}

void softmax_again(const CausalScores& scores, const float* top, const float* inverse) {
  for (int row = 0; row < scores.rows; ++row) (void)raise_row(scores, row, top[row], inverse[row]);
}

void softmax_backward(const CausalScores& weights, float* d_weights) {
  for (int row = 0; row < weights.rows; ++row, d_weights += weights.columns) {
    const float* const values = weights.values + row_at(row, weights.columns);
    const int count = seen(weights, row);
    Vec sum = {};
    Vec w;
    Vec d;
    for (int i = 0; i < count; i += k_lanes) {
      load_next(w, values + i, count - i, 0);
      load_next(d, d_weights + i, count - i, 0);
      sum += w * d;
    }
    const float level = sum_lanes(sum);
    for (int i = 0; i < count; ++i)
      d_weights[i] = values[i] * (d_weights[i] - level) * weights.scale;
    for (int i = count; i < weights.columns; ++i) d_weights[i] = 0;
  }
}

void begin_rows(const RowShape& shape, const float* bias, const float* residual, float* y) {
  for (int row = 0; row < shape.rows; ++row, y += shape.width) {
    const float* const from = residual == nullptr ? nullptr : residual + row_at(row, shape.width);
    for (int i = 0; i < shape.width; ++i)
      y[i] = (bias == nullptr ? 0.0F : bias[i]) + (from == nullptr ? 0.0F : from[i]);
  }
}

SoftmaxSums softmax_sums(const float* logits, int classes, float* powers) {
  Vec highest = Vec{} + logits[0];
  Vec v;
  for (int i = 0; i < classes; i += k_lanes) {
    load_next(v, logits + i, classes - i, logits[0]);
    larger(highest, v);
  }
  const float top = top_lane(highest);
  Vec sum = {};
  Vec total = {};
  for (int i = 0; i < classes; i += k_lanes) {
    load_next(v, logits + i, classes - i, top);
    v -= top;
    total += v;
    if (classes - i < k_lanes)
      for (int lane = classes - i; lane < k_lanes; ++lane) v[lane] = -100.0F;  // its power is 0
    raise(v);
    sum += v;
    if (powers != nullptr) store_next(powers + i, v, classes - i);
  }
  return {top, sum_lanes(sum), sum_lanes(total)};
}

void softmax_gradient(
    const float* powers, int classes, float sum, float spread, float scale, float* d) {
  const float factor = scale / sum;
  const float level = scale * spread;
  for (int i = 0; i < classes; ++i) d[i] = powers[i] * factor - level;
}

constexpr TokenKernels k_token_kernels{layer_norm_forward,
                                       layer_norm_backward,
                                       rms_norm_forward,
                                       rms_norm_backward,
                                       gelu_forward,
                                       gelu_backward,
                                       swiglu_forward,
                                       swiglu_backward,
                                       rotate,
                                       softmax,
                                       softmax_again,
                                       softmax_backward,
                                       begin_rows,
                                       softmax_sums,
                                       softmax_gradient};

}  // namespace
}  // namespace dts::train::DTS_ISA
