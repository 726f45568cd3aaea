// SPDX-License-Identifier: Apache-2.0
// Momentum SGD as in PyTorch: g += decay * w; m' = beta * m + g; w' = w - lr * m', or, with
// Nesterov's momentum, w - lr * (g + beta * m') (I. Sutskever et al., "On the importance of
// initialization and momentum in deep learning", 2013).
#include "core/train/device/kernels.hpp"
#include "core/train/device/optimizer_kernels.hpp"
#include "core/train/optim/optimizer.hpp"

namespace dts::train {

namespace {

// The gradient with weight decay. If there is any, it is in `next_weights`, which is overwritten
// later.
const float* decayed(const OptimizerSettings& settings, const UpdatePart& part) {
  if (settings.weight_decay == 0 || !part.decays) return part.gradients;
  optimizer_kernels().blend(part.next_weights,
                            part.gradients,
                            part.weights,
                            part.count,
                            1,
                            static_cast<float>(settings.weight_decay));
  return part.next_weights;
}

}  // namespace

void update_sgd(const OptimizerSettings& settings, const UpdateStep& step, const UpdatePart& part) {
  sgd({part.next_weights, part.next_moments[0]},
      {part.weights, part.moments[0]},
      {decayed(settings, part),
       part.count,
       static_cast<float>(step.lr),
       static_cast<float>(settings.momentum)});
}

void update_nesterov(const OptimizerSettings& settings,
                     const UpdateStep& step,
                     const UpdatePart& part) {
  const auto beta = static_cast<float>(settings.momentum);
  const OptimizerKernels& kernels = optimizer_kernels();
  const float* const g = decayed(settings, part);
  kernels.blend(part.next_moments[0], g, part.moments[0], part.count, 1, beta);
  kernels.blend(part.next_weights, g, part.next_moments[0], part.count, 1, beta);
  kernels.move(part.next_weights,
               part.weights,
               part.next_weights,
               part.count,
               1,
               static_cast<float>(step.lr));
}

}  // namespace dts::train
