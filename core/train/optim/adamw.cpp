// SPDX-License-Identifier: Apache-2.0
// AdamW (I. Loshchilov and F. Hutter, "Decoupled Weight Decay Regularization", 2017):
// w' = (1 - lr * decay) w - lr * direction, as in PyTorch. Norms and biases do not decay.
#include "core/train/optim/adam.hpp"

#include <cmath>

namespace dts::train {
namespace {

// x^n by squaring: the last bit of the C library's pow() may differ between processors.
double power(double x, std::uint64_t n) {
  double result = 1;
  for (; n > 0; n /= 2, x *= x)
    if (n % 2 == 1) result *= x;
  return result;
}

}  // namespace

AdamFactors adam_factors(const OptimizerSettings& settings, const UpdateStep& step) {
  return {static_cast<float>(settings.beta1),
          static_cast<float>(settings.beta2),
          static_cast<float>(1 - settings.beta1),
          static_cast<float>(1 - settings.beta2),
          static_cast<float>(settings.epsilon),
          static_cast<float>(1 / (1 - power(settings.beta1, step.count))),
          static_cast<float>(1 / std::sqrt(1 - power(settings.beta2, step.count)))};
}

void adam_direction(const OptimizerSettings& settings,
                    const UpdateStep& step,
                    const UpdatePart& part) {
  optimizer_kernels().adam(
      {part.next_moments[0], part.next_moments[1], part.moments[0], part.moments[1]},
      part.gradients,
      part.count,
      adam_factors(settings, step),
      part.next_weights);
}

void update_adamw(const OptimizerSettings& settings,
                  const UpdateStep& step,
                  const UpdatePart& part) {
  adam_direction(settings, step, part);
  const double decay = part.decays ? settings.weight_decay : 0;
  optimizer_kernels().move(part.next_weights,
                           part.weights,
                           part.next_weights,
                           part.count,
                           static_cast<float>(1 - step.lr * decay),
                           static_cast<float>(step.lr));
}

}  // namespace dts::train
