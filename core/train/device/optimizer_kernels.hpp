// SPDX-License-Identifier: Apache-2.0
// Kernels of the optimisers for runs of the flat array of parameters. As in kernels.hpp, they are
// single-threaded, depend on the instruction set, and are thread-safe on disjoint outputs.
#pragma once

#include <cstddef>

namespace dts::train {

// Moments of Adam (D. P. Kingma and J. Ba, "Adam: A Method for Stochastic Optimization", 2014).
struct AdamFactors {
  float beta1 = 0;
  float beta2 = 0;
  float rest1 = 1;  // 1 - beta1, rounded once
  float rest2 = 1;
  float epsilon = 0;
  float unbias1 = 1;  // 1 / (1 - beta1^t)
  float unbias2 = 1;  // 1 / sqrt(1 - beta2^t)
};

struct AdamMoments {
  float* next_mean = nullptr;
  float* next_square = nullptr;
  const float* mean = nullptr;
  const float* square = nullptr;
};

struct OptimizerKernels {
  // Computes the moments after `gradients`, and direction = unbiased mean / (sqrt(unbiased square)
  // + epsilon).
  void (*adam)(const AdamMoments& moments,
               const float* gradients,
               std::size_t count,
               const AdamFactors& factors,
               float* direction);

  // next = keep * weights - rate * direction. `next` may be `direction`.
  void (*move)(float* next,
               const float* weights,
               const float* direction,
               std::size_t count,
               float keep,
               float rate);

  // to = scale * a + by * b. `to` may be a or b.
  void (*blend)(
      float* to, const float* a, const float* b, std::size_t count, float scale, float by);
};

[[nodiscard]] const OptimizerKernels& optimizer_kernels();

}  // namespace dts::train
