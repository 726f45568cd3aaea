// SPDX-License-Identifier: Apache-2.0
#include "core/train/optim/adam.hpp"

#include <algorithm>

namespace dts::train {

using Update = void(const OptimizerSettings&, const UpdateStep&, const UpdatePart&);
Update update_sgd;
Update update_nesterov;
Update update_adamw;
Update update_lamb;

UpdateFactors update_factors(const OptimizerSettings& settings, const UpdateStep& step) {
  const AdamFactors adam = adam_factors(settings, step);
  UpdateFactors factors;
  factors.rate = static_cast<float>(step.lr);
  factors.decay = static_cast<float>(settings.weight_decay);
  factors.keep = static_cast<float>(1 - step.lr * settings.weight_decay);
  factors.momentum = static_cast<float>(settings.momentum);
  factors.beta1 = adam.beta1;
  factors.beta2 = adam.beta2;
  factors.rest1 = adam.rest1;
  factors.rest2 = adam.rest2;
  factors.epsilon = adam.epsilon;
  factors.unbias1 = adam.unbias1;
  factors.unbias2 = adam.unbias2;
  return factors;
}

std::span<const OptimizerRow> optimizer_table() {
  static const OptimizerRow rows[] = {
      {"sgd", "momentum SGD", 0.1, 0, {"momentum"}, {"momentum"}, update_sgd, UpdateRule::sgd},
      {"nesterov",
       "SGD with Nesterov's momentum",
       0.1,
       0,
       {"momentum"},
       {"momentum"},
       update_nesterov,
       UpdateRule::nesterov},
      {"adamw",
       "Adam with decoupled weight decay",
       0.001,
       0.01,
       {"exp_avg", "exp_avg_sq"},
       {"betas", "epsilon"},
       update_adamw,
       UpdateRule::adam,
       true},
      {"lamb",
       "Adam with a rate for each tensor, for large batches",
       0.002,
       0.01,
       {"exp_avg", "exp_avg_sq"},
       {"betas", "epsilon"},
       update_lamb,
       UpdateRule::lamb,
       true,
       true},
  };
  return rows;
}

const OptimizerRow* find_optimizer(std::string_view name) {
  const auto rows = optimizer_table();
  const auto found = std::find_if(
      rows.begin(), rows.end(), [&](const OptimizerRow& row) { return name == row.name; });
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace dts::train
