// SPDX-License-Identifier: Apache-2.0
// The learning rate of each step, a function of the step only. Pure, thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace dts::train {

struct Schedule {
  double lr = 0;
  std::uint64_t warmup = 0;  // steps of linear increase from lr / warmup
  // The factor of lr after the warm-up, as a function of the share of the remaining steps that is
  // done, in [0, 1]. nullptr: constant.
  double (*shape)(double progress) = nullptr;
  double least = 0;         // lower limit of the rate
  std::uint64_t total = 0;  // steps of the whole run
};

// The learning rate of the next step after `completed` steps.
[[nodiscard]] double learning_rate(const Schedule& schedule, std::uint64_t completed);

struct ScheduleRow {
  const char* name;
  const char* help;
  double (*shape)(double progress);
};

// "constant", "cosine", "linear", "step", "wsd"; nullptr for any other name. Rows live forever.
[[nodiscard]] const ScheduleRow* find_schedule(std::string_view name);

// How the learning rate grows with the batch size.
enum class BatchRule { none, linear, sqrt };

// "none", "linear" (P. Goyal et al., "Accurate, Large Minibatch SGD", 2017), "sqrt" (A. Krizhevsky,
// "One weird trick for parallelizing convolutional neural networks", 2014).
[[nodiscard]] std::optional<BatchRule> batch_rule_of(std::string_view name);

// The factor for a learning rate that is meant for batches of `base` samples.
[[nodiscard]] double batch_factor(BatchRule rule, std::uint64_t batch, std::uint64_t base);

}  // namespace dts::train
