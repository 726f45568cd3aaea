// SPDX-License-Identifier: Apache-2.0
// LAMB (Y. You et al., "Large Batch Optimization for Deep Learning: Training BERT in 76 minutes",
// 2019): w' = w - lr (|w| / |u|) u for each tensor, u = Adam's direction + decay * w. Norms and
// biases change as in Adam.
#include "core/train/device/optimizer_kernels.hpp"
#include "core/train/optim/adam.hpp"

namespace dts::train {

void update_lamb(const OptimizerSettings& settings,
                 const UpdateStep& step,
                 const UpdatePart& part) {
  adam_direction(settings, step, part);
  if (part.decays)  // leaves the direction there
    optimizer_kernels().blend(part.next_weights,
                              part.next_weights,
                              part.weights,
                              part.count,
                              1,
                              static_cast<float>(settings.weight_decay));
  else
    optimizer_kernels().move(part.next_weights,
                             part.weights,
                             part.next_weights,
                             part.count,
                             1,
                             static_cast<float>(step.lr));
}

}  // namespace dts::train
