// SPDX-License-Identifier: Apache-2.0
// The implementation of optimizer_kernels.hpp; vectors.hpp explains how it is included.
#pragma once

#include "core/train/device/optimizer_kernels.hpp"
#include "core/train/device/vectors.hpp"

namespace dts::train::DTS_ISA {
namespace {

void adam(const AdamMoments& moments,
          const float* gradients,
          std::size_t count,
          const AdamFactors& f,
          float* direction) {
  for (std::size_t i = 0; i < count; ++i) {
    const float g = gradients[i];
    const float mean = f.beta1 * moments.mean[i] + f.rest1 * g;
    const float square = f.beta2 * moments.square[i] + f.rest2 * (g * g);
    moments.next_mean[i] = mean;
    moments.next_square[i] = square;
    direction[i] = mean * f.unbias1 / (__builtin_sqrtf(square) * f.unbias2 + f.epsilon);
  }
}

void move(float* next,
          const float* weights,
          const float* direction,
          std::size_t count,
          float keep,
          float rate) {
  for (std::size_t i = 0; i < count; ++i) next[i] = keep * weights[i] - rate * direction[i];
}

void blend(float* to, const float* a, const float* b, std::size_t count, float scale, float by) {
  for (std::size_t i = 0; i < count; ++i) to[i] = scale * a[i] + by * b[i];
}

constexpr OptimizerKernels k_optimizer_kernels{adam, move, blend};

}  // namespace
}  // namespace dts::train::DTS_ISA
