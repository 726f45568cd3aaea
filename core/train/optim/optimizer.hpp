// SPDX-License-Identifier: Apache-2.0
// Optimisers: how gradients change weights. A new optimiser is a file here with its update, and a
// row in optimizer_table.cpp. Pure, thread-safe.
#pragma once

#include "core/train/optim/chunk.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dts::train {

// The settings of all optimisers; each reads only some of them.
struct OptimizerSettings {
  double momentum = 0.9;  // SGD
  double beta1 = 0.9;     // Adam and LAMB
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;  // for tensors that decay (Tensor::decays)
  double clip_norm = 0;     // the gradient is scaled down to this norm; 0: never
};

// One step of all parameters.
struct UpdateStep {
  double lr = 0;
  std::uint64_t count = 1;  // number of updates, including this one
};

// A run of elements of one tensor. All arrays have its length; `moments` has an array for each of
// the row's moments.
struct UpdatePart {
  const float* gradients = nullptr;
  const float* weights = nullptr;
  float* next_weights = nullptr;
  std::span<const float* const> moments;
  std::span<float* const> next_moments;
  std::size_t count = 0;
  bool decays = false;
};

struct OptimizerRow {
  const char* name;
  const char* help;
  double lr;            // default
  double weight_decay;  // default
  // The names of the moments that it keeps for each parameter. They are PyTorch's, except
  // `momentum`, which PyTorch calls momentum_buffer; earlier releases wrote that name to
  // checkpoints.
  std::vector<std::string> moments;
  // The settings that it reads, as names of their options; for messages, and for what checkpoints
  // must agree on.
  std::vector<std::string> reads;
  // Writes the next moments and weights. Elements are independent of each other, so that a tensor
  // may be cut anywhere.
  void (*update)(const OptimizerSettings& settings, const UpdateStep& step, const UpdatePart& part);
  // The same rule for accelerators (accelerator/kernels/update.hpp).
  UpdateRule rule = UpdateRule::sgd;
  // Whether its moments are means of gradients, and not sums.
  bool averages = false;
  // If set, update() writes to `next_weights` of a tensor that decays the direction of the step
  // instead of weights. The caller then moves the weights by lr |weights| / |direction|, where the
  // norms are over the whole tensor.
  bool by_tensor = false;
};

// The factors of a step, without the scale of the gradient and the rates by tensor.
[[nodiscard]] UpdateFactors update_factors(const OptimizerSettings& settings,
                                           const UpdateStep& step);

[[nodiscard]] std::span<const OptimizerRow> optimizer_table();

// nullptr for an unknown name. Rows live forever.
[[nodiscard]] const OptimizerRow* find_optimizer(std::string_view name);

}  // namespace dts::train
