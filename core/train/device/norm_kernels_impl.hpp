// SPDX-License-Identifier: Apache-2.0
// The implementation of the normalisations of token_kernels.hpp; vectors.hpp explains how it is
// included.
#pragma once

#include "core/train/device/token_kernels.hpp"
#include "core/train/device/vector_math.hpp"

namespace dts::train::DTS_ISA {
namespace {

void layer_norm_forward(const RowShape& shape,
                        const float* x,
                        const float* gamma,
                        const float* beta,
                        float epsilon,
                        float* y,
                        const RowMoments& moments) {
  const auto width = static_cast<float>(shape.width);
  for (int row = 0; row < shape.rows; ++row, x += shape.width, y += shape.width) {
    Vec sum = {};
    Vec v;
    for (int i = 0; i < shape.width; i += k_lanes) {
      load(v, x + i);
      sum += v;
    }
    const float mean = sum_lanes(sum) / width;
    sum = Vec{};
    for (int i = 0; i < shape.width; i += k_lanes) {
      load(v, x + i);
      v -= mean;
      sum += v * v;
    }
    const float inverse = 1.0F / __builtin_sqrtf(sum_lanes(sum) / width + epsilon);
    moments.mean[row] = mean;
    moments.inverse[row] = inverse;
    for (int i = 0; i < shape.width; i += k_lanes) {
      Vec g;
      Vec b;
      load(v, x + i);
      load(g, gamma + i);
      load(b, beta + i);
      store(y + i, (v - mean) * inverse * g + b);
    }
  }
}

void rms_norm_forward(const RowShape& shape,
                      const float* x,
                      const float* gamma,
                      float epsilon,
                      float* y,
                      const RowMoments& moments) {
  for (int row = 0; row < shape.rows; ++row, x += shape.width, y += shape.width) {
    Vec sum = {};
    Vec v;
    for (int i = 0; i < shape.width; i += k_lanes) {
      load(v, x + i);
      sum += v * v;
    }
    const float inverse =
        1.0F / __builtin_sqrtf(sum_lanes(sum) / static_cast<float>(shape.width) + epsilon);
    moments.inverse[row] = inverse;
    for (int i = 0; i < shape.width; i += k_lanes) {
      Vec g;
      load(v, x + i);
      load(g, gamma + i);
      store(y + i, v * inverse * g);
    }
  }
}

// The backward pass of one row. `is_centred`: the forward pass subtracted the mean.
DTS_INLINE void norm_row_backward(int width,
                                  const float* x,
                                  const float* gamma,
                                  float mean,
                                  float inverse,
                                  bool is_centred,
                                  const float* d_y,
                                  float* d_x,
                                  Into into,
                                  float* d_gamma,
                                  float* d_beta) {
  Vec sum = {};
  Vec product = {};
  Vec v;
  Vec d;
  Vec g;
  for (int i = 0; i < width; i += k_lanes) {
    load(v, x + i);
    load(d, d_y + i);
    load(g, gamma + i);
    const Vec normal = (v - mean) * inverse;
    sum += d * g;
    product += d * g * normal;
    load(g, d_gamma + i);
    store(d_gamma + i, g + d * normal);
    if (!is_centred) continue;
    load(g, d_beta + i);
    store(d_beta + i, g + d);
  }
  const float level = is_centred ? sum_lanes(sum) / static_cast<float>(width) : 0.0F;
  const float slope = sum_lanes(product) / static_cast<float>(width);
  for (int i = 0; i < width; i += k_lanes) {
    load(v, x + i);
    load(d, d_y + i);
    load(g, gamma + i);
    const Vec normal = (v - mean) * inverse;
    Vec result = (d * g - level - normal * slope) * inverse;
    if (into == Into::adds) {
      load(v, d_x + i);
      result += v;
    }
    store(d_x + i, result);
  }
}

// Inlined into both callers, with a constant `is_centred`.
DTS_INLINE void norm_backward(const NormBackward& norm, bool is_centred) {
  for (int i = 0; i < norm.shape.width; ++i) {
    norm.d_gamma[i] = 0;
    if (is_centred) norm.d_beta[i] = 0;
  }
  for (int row = 0; row < norm.shape.rows; ++row) {
    const std::size_t at = row_at(row, norm.shape.width);
    norm_row_backward(norm.shape.width,
                      norm.x + at,
                      norm.gamma,
                      is_centred ? norm.moments.mean[row] : 0.0F,
                      norm.moments.inverse[row],
                      is_centred,
                      norm.d_y + at,
                      norm.d_x + at,
                      norm.into,
                      norm.d_gamma,
                      norm.d_beta);
  }
}

void layer_norm_backward(const NormBackward& norm) {
  norm_backward(norm, true);
}

void rms_norm_backward(const NormBackward& norm) {
  norm_backward(norm, false);
}

}  // namespace
}  // namespace dts::train::DTS_ISA
