// SPDX-License-Identifier: Apache-2.0
#include "core/train/optim/optimizer.hpp"

#include <algorithm>

namespace dts::train {

using Update = void(const OptimizerSettings&, const UpdateStep&, const UpdatePart&);
Update update_sgd;
Update update_nesterov;
Update update_adamw;
Update update_lamb;

std::span<const OptimizerRow> optimizer_table() {
  static const OptimizerRow rows[] = {
      {"sgd", "momentum SGD", 0.1, 0, {"momentum"}, {"momentum"}, update_sgd},
      {"nesterov",
       "SGD with Nesterov's momentum",
       0.1,
       0,
       {"momentum"},
       {"momentum"},
       update_nesterov},
      {"adamw",
       "Adam with decoupled weight decay",
       0.001,
       0.01,
       {"exp_avg", "exp_avg_sq"},
       {"betas", "epsilon"},
       update_adamw,
       true},
      {"lamb",
       "Adam with a rate for each tensor, for large batches",
       0.002,
       0.01,
       {"exp_avg", "exp_avg_sq"},
       {"betas", "epsilon"},
       update_lamb,
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
