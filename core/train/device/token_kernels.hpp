// SPDX-License-Identifier: Apache-2.0
// Kernels of transformers for rows of floats. As in kernels.hpp, they are single-threaded, depend
// on the instruction set, and are thread-safe on disjoint outputs. They do not use the C library's
// exponentials.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dts::train {

// The shape of a matrix of rows without gaps.
struct RowShape {
  int rows = 0;
  int width = 0;  // a multiple of 16

  [[nodiscard]] std::size_t count() const {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(width);
  }
};

// What a normalisation keeps of each row for the backward pass; `mean` is nullptr for RMS.
struct RowMoments {
  float* mean = nullptr;
  float* inverse = nullptr;  // 1 / sqrt(variance or mean square + epsilon)
};

// Whether a gradient overwrites the destination or is added to it.
enum class Into { overwrites, adds };

// The backward pass of a normalisation. Overwrites d_gamma and d_beta, [width]; gamma is [width],
// the others have the shape of the rows.
struct NormBackward {
  RowShape shape;
  const float* x = nullptr;
  const float* gamma = nullptr;
  RowMoments moments;
  const float* d_y = nullptr;
  float* d_x = nullptr;
  Into into = Into::overwrites;
  float* d_gamma = nullptr;
  float* d_beta = nullptr;  // not used for RMS
};

// Attention scores, row-major: row r may see columns 0 to first + r.
struct CausalScores {
  float* values = nullptr;
  int rows = 0;
  int columns = 0;
  int first = 0;
  float scale = 1;
};

struct SoftmaxSums {
  float top = 0;    // the largest logit
  float sum = 0;    // of exp(logit - top)
  float total = 0;  // of logit - top
};

struct TokenKernels {
  // y = (x - mean) / sqrt(variance + epsilon) * gamma + beta for each row; gamma and beta are
  // [width].
  void (*layer_norm_forward)(const RowShape& shape,
                             const float* x,
                             const float* gamma,
                             const float* beta,
                             float epsilon,
                             float* y,
                             const RowMoments& moments);

  void (*layer_norm_backward)(const NormBackward& norm);

  // y = x / sqrt(mean square + epsilon) * gamma (B. Zhang and R. Sennrich, "Root Mean Square Layer
  // Normalization", 2019).
  void (*rms_norm_forward)(const RowShape& shape,
                           const float* x,
                           const float* gamma,
                           float epsilon,
                           float* y,
                           const RowMoments& moments);

  void (*rms_norm_backward)(const NormBackward& norm);

  // y = x / (1 + exp(-2 k (x + 0.044715 x^3))), k = sqrt(2 / pi): the tanh approximation of GELU
  // (D. Hendrycks and K. Gimpel, "Gaussian Error Linear Units", 2016). Here and below `count` is a
  // multiple of 16.
  void (*gelu_forward)(const float* x, std::size_t count, float* y);
  // d_x may be d_y.
  void (*gelu_backward)(const float* x, const float* d_y, std::size_t count, float* d_x);

  // y = silu(gate) up, silu(g) = g / (1 + exp(-g)) (N. Shazeer, "GLU Variants Improve Transformer",
  // 2020).
  void (*swiglu_forward)(const float* gate, const float* up, std::size_t count, float* y);
  void (*swiglu_backward)(const float* gate,
                          const float* up,
                          const float* d_y,
                          std::size_t count,
                          float* d_gate,
                          float* d_up);

  // Rotates each pair (x[i], x[i + half]) by the angle with the given cosine and sine; `sign` -1
  // rotates it back (J. Su et al., "RoFormer", 2021).
  void (*rotate)(float* x, const float* cosine, const float* sine, int half, float sign);

  // Turns scores into weights: exp(scale s - top) / sum of the row, 0 where the row may not see.
  // Writes top and 1 / sum of each row.
  void (*softmax)(const CausalScores& scores, float* top, float* inverse);
  // Computes the same weights again from scores and the output of softmax().
  void (*softmax_again)(const CausalScores& scores, const float* top, const float* inverse);
  // Turns d_weights into the gradient of the scores before scaling.
  void (*softmax_backward)(const CausalScores& weights, float* d_weights);

  // y[r] = bias + residual[r]; either may be nullptr.
  void (*begin_rows)(const RowShape& shape, const float* bias, const float* residual, float* y);

  // For a row of logits. `powers`, unless nullptr, receives exp(logit - top); it may be `logits`.
  SoftmaxSums (*softmax_sums)(const float* logits, int classes, float* powers);
  // d = scale * (powers / sum - spread); `d` may be `powers`.
  void (*softmax_gradient)(
      const float* powers, int classes, float sum, float spread, float scale, float* d);
};

[[nodiscard]] const TokenKernels& token_kernels();

}  // namespace dts::train
