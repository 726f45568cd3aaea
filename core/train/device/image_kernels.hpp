// SPDX-License-Identifier: Apache-2.0
// Kernels of residual networks, over blocked images. As kernels.hpp says: single-threaded,
// dependent on the instruction set, thread-safe on disjoint outputs.
#pragma once

#include "core/train/device/kernels.hpp"

namespace dts::train {

// The backward pass of relu(batch norm(x) + residual).
struct BnReluBackward {
  Images shape;
  const float* x = nullptr;
  const float* y = nullptr;  // what the forward pass gave
  BatchNorm bn;              // of this same batch: gradients flow through its statistics
  float* d_y = nullptr;      // becomes the gradient before the ReLU, which is the residual's
  float* d_x = nullptr;      // overwritten, as the next two
  float* d_gamma = nullptr;  // [channels]
  float* d_beta = nullptr;   // [channels]
};

struct ImageKernels {
  // out = relu(batch norm(x) + residual), all of one shape; nullptr: no residual.
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
