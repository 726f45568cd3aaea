// SPDX-License-Identifier: Apache-2.0
// An optimiser's step for the gradient of a part of the batch, made before other parts have theirs:
// the part's share of a step in all that a step does. Moments decay by the share-th power, weights
// move by the share of the learning rate; sums of gradients, such as momentum, grow by what the
// part adds to the batch's gradient, means of them move to the part's own mean. The steps of all
// parts decay moments as one step does, and move weights as far, in expectation, as long as weights
// are the same. For all of the batch it is the step itself. Pure, thread-safe.
#pragma once

#include "core/train/optim/optimizer.hpp"

#include <cmath>

namespace dts::train {

struct PartOfStep {
  double share = 1;            // of the batch, more than 0
  OptimizerSettings settings;  // for it
  float gradient_scale = 1;    // of the part's share of the mean over the batch
};

// Of an optimiser whose moments are of single elements.
[[nodiscard]] inline PartOfStep part_of_step(const OptimizerRow& optimizer,
                                             OptimizerSettings settings,
                                             double share) {
  settings.momentum = std::pow(settings.momentum, share);
  settings.beta1 = std::pow(settings.beta1, share);
  settings.beta2 = std::pow(settings.beta2, share);
  // Decay that is a part of the gradient is so of this one.
  if (!optimizer.averages) settings.weight_decay *= share;
  return {share, settings, optimizer.averages ? static_cast<float>(1 / share) : 1.0F};
}

}  // namespace dts::train
