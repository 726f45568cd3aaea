// SPDX-License-Identifier: Apache-2.0
// Kernels of residual networks for blocked images. As in kernels.hpp, they are single-threaded,
// depend on the instruction set, and are thread-safe on disjoint outputs.
#pragma once

#include "core/train/device/kernels.hpp"

namespace dts::train {

// The backward pass of relu(batch norm(x) + residual).
struct BnReluBackward {
  Images shape;
  const float* x = nullptr;
  const float* y = nullptr;  // the output of the forward pass
  BatchNorm bn;              // of this same batch: gradients flow through its statistics
  float* d_y = nullptr;      // becomes the gradient before the ReLU, which is also the residual's
  float* d_x = nullptr;      // overwritten, like d_gamma and d_beta
  float* d_gamma = nullptr;  // [channels]
  float* d_beta = nullptr;   // [channels]
};

struct ImageKernels {
  // out = relu(batch norm(x) + residual), all of one shape; `residual` may be nullptr.
  void (*bn_relu_forward)(
      const Images& shape, const float* x, const BatchNorm& bn, const float* residual, float* out);

  void (*bn_relu_backward)(const BnReluBackward& pass);

  // out[n][c] = the mean over the pixels of a channel.
  void (*average_pool_forward)(const Images& shape, const float* x, float* out);

  // Overwrites d_x (shape of x).
  void (*average_pool_backward)(const Images& shape, const float* d_out, float* d_x);
};

[[nodiscard]] const ImageKernels& image_kernels();

}  // namespace dts::train
