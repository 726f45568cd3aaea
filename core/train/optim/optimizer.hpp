// SPDX-License-Identifier: Apache-2.0
// Optimisers: how gradients move weights. A new one is a file here with its update, and a row in
// optimizer_table.cpp. Pure, thread-safe.
#pragma once

#include "core/train/optim/chunk.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dts::train {

// What may be chosen for an optimiser; each reads what concerns it.
struct OptimizerSettings {
  double momentum = 0.9;  // SGD
  double beta1 = 0.9;     // Adam and LAMB
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;  // of tensors that decay (Tensor::decays)
  double clip_norm = 0;     // the gradient is scaled down to this norm; 0: never
};

// One step of all parameters.
struct UpdateStep {
  double lr = 0;
  std::uint64_t count = 1;  // updates with this one
};

// A run of one tensor's elements. The arrays have its length; `moments` has one array for each of
// the row's.
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
  double lr;            // where none is chosen
  double weight_decay;  // likewise
  // What it keeps for each parameter, by PyTorch's name for it, except `momentum`, which is the
  // name in checkpoints of earlier releases for PyTorch's momentum_buffer.
  std::vector<std::string> moments;
  // The settings that it reads, for messages and for what checkpoints must agree on: the names of
  // their options.
  std::vector<std::string> reads;
  // Writes the next moments and weights. The elements are independent of each other, so that a
  // tensor may be cut anywhere.
  void (*update)(const OptimizerSettings& settings, const UpdateStep& step, const UpdatePart& part);
  // The same where an accelerator does it (accelerator/kernels/update.hpp).
  UpdateRule rule = UpdateRule::sgd;
  // Its moments are means of gradients, not sums.
  bool averages = false;
  // If so, update() leaves in `next_weights` of a tensor that decays not its weights but the
  // direction in which they move, and who calls it moves them by lr |weights| / |direction|, norms
  // of the whole tensor.
  bool by_tensor = false;
};

// What a step's arithmetic reads; the gradient's scale and rates by tensor are not in it.
[[nodiscard]] UpdateFactors update_factors(const OptimizerSettings& settings,
                                           const UpdateStep& step);

[[nodiscard]] std::span<const OptimizerRow> optimizer_table();

// nullptr for an unknown name. Rows live for ever.
[[nodiscard]] const OptimizerRow* find_optimizer(std::string_view name);

}  // namespace dts::train
