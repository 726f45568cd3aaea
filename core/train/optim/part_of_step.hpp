// SPDX-License-Identifier: Apache-2.0
// An optimiser's step with the gradient of only a part of the batch, made before the other parts
// have theirs: a share of the whole step. Moments decay by the factor to the power of the share,
// and weights move by the share of the learning rate. Sums of gradients, such as momentum, grow by
// what the part adds to the batch's gradient; means move towards the part's own mean. As long as
// weights are equal, the steps of all parts together decay moments as one step does, and move
// weights as far in expectation. With the whole batch this is the ordinary step. Pure, thread-safe.
#pragma once

#include "core/train/optim/optimizer.hpp"

#include <cmath>

namespace dts::train {

struct PartOfStep {
  double share = 1;            // of the batch, more than 0
  OptimizerSettings settings;  // adapted to the share
  float gradient_scale = 1;    // applied to the part's contribution to the batch's mean
};

// For optimisers whose moments are of single elements.
[[nodiscard]] inline PartOfStep part_of_step(const OptimizerRow& optimizer,
                                             OptimizerSettings settings,
                                             double share) {
  settings.momentum = std::pow(settings.momentum, share);
  settings.beta1 = std::pow(settings.beta1, share);
  settings.beta2 = std::pow(settings.beta2, share);
  // Weight decay that is a part of the gradient must be scaled as the gradient is.
  if (!optimizer.averages) settings.weight_decay *= share;
  return {share, settings, optimizer.averages ? static_cast<float>(1 / share) : 1.0F};
}

}  // namespace dts::train
