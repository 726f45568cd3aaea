// SPDX-License-Identifier: Apache-2.0
// Kernels of one element a thread: sums, biases with residuals, GELU.
#pragma once

#include "core/train/accelerator/kernels/block.hpp"

#include <cmath>

namespace dts::train::accelerator {

// sums += others: the addition of the tree over shards.
struct Add : Elementwise {
  float* sums = nullptr;
  const float* others = nullptr;

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& /*shared*/) const {
    for_each(block, [&](std::size_t i) { sums[i] += others[i]; });
  }
};

// y[row] = bias + residual[row]; either may be nullptr.
struct BeginRows : Elementwise {
  int width = 0;
  const float* bias = nullptr;
  const float* residual = nullptr;
  float* y = nullptr;

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& /*shared*/) const {
    for_each(block, [&](std::size_t i) {
      const float from = residual == nullptr ? 0.0F : residual[i];
      y[i] = from + (bias == nullptr ? 0.0F : bias[i % static_cast<std::size_t>(width)]);
    });
  }
};

inline constexpr float k_gelu = 2 * 0.7978845608F;  // 2 sqrt(2 / pi)
inline constexpr float k_gelu_cubic = 0.044715F;

// x / (1 + exp(-2 k (x + 0.044715 x^3))) as its second factor: GELU by its tanh
// (device/token_kernels.hpp).
[[nodiscard]] DTS_BLOCK_CODE inline float gelu_gate(float x) {
  return 1.0F / (1.0F + expf(-k_gelu * (x + k_gelu_cubic * x * x * x)));
}

// y = gelu(x)
struct GeluForward : Elementwise {
  const float* x = nullptr;
  float* y = nullptr;

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& /*shared*/) const {
    for_each(block, [&](std::size_t i) { y[i] = x[i] * gelu_gate(x[i]); });
  }
};

// d_x = d_y gelu'(x); d_x may be d_y.
struct GeluBackward : Elementwise {
  const float* x = nullptr;
  const float* d_y = nullptr;
  float* d_x = nullptr;

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& /*shared*/) const {
    for_each(block, [&](std::size_t i) {
      const float v = x[i];
      const float gate = gelu_gate(v);
      const float slope = k_gelu * (1.0F + 3 * k_gelu_cubic * v * v);
      d_x[i] = d_y[i] * (gate + v * gate * (1.0F - gate) * slope);
    });
  }
};

}  // namespace dts::train::accelerator
