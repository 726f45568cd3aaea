// SPDX-License-Identifier: Apache-2.0
#include "core/train/optim/schedule.hpp"

#include "core/base/text/names.hpp"
#include "core/train/device/elementary.hpp"

#include <algorithm>
#include <cmath>

namespace dts::train {
namespace {

double cosine(double progress) {
  return 0.5 * (1 + cosine_of_pi(progress));
}

double linear(double progress) {
  return 1 - progress;
}

// The schedule of residual networks (K. He et al., "Deep Residual Learning for Image Recognition",
// 2015, section 4.2).
double step(double progress) {
  return progress < 0.5 ? 1 : progress < 0.75 ? 0.1 : 0.01;
}

// Warm-up, stable, decay (S. Hu et al., "MiniCPM", 2024).
double stable_then_decay(double progress) {
  constexpr double k_decay = 0.1;  // of the steps
  return std::min(1.0, (1 - progress) / k_decay);
}

constexpr ScheduleRow k_schedules[] = {
    {"constant", "the same rate", nullptr},
    {"cosine", "half a cosine, to 0 at the last step", cosine},
    {"linear", "a line, to 0 at the last step", linear},
    {"step", "a tenth from half of the steps on, a hundredth from three quarters", step},
    {"wsd", "the same rate, in the last tenth of the steps a line to 0", stable_then_decay},
};

constexpr Names<BatchRule, 3> k_rules{
    {{BatchRule::none, "none"}, {BatchRule::linear, "linear"}, {BatchRule::sqrt, "sqrt"}}};

}  // namespace

double learning_rate(const Schedule& schedule, std::uint64_t completed) {
  if (completed < schedule.warmup)
    return schedule.lr * static_cast<double>(completed + 1) / static_cast<double>(schedule.warmup);
  if (schedule.shape == nullptr || schedule.total <= schedule.warmup) return schedule.lr;
  const double progress = static_cast<double>(completed - schedule.warmup) /
                          static_cast<double>(schedule.total - schedule.warmup);
  return std::max(schedule.least, schedule.lr * schedule.shape(std::fmin(progress, 1.0)));
}

const ScheduleRow* find_schedule(std::string_view name) {
  const auto* const found = std::find_if(std::begin(k_schedules),
                                         std::end(k_schedules),
                                         [&](const ScheduleRow& row) { return name == row.name; });
  return found == std::end(k_schedules) ? nullptr : found;
}

std::optional<BatchRule> batch_rule_of(std::string_view name) {
  return value_of(k_rules, name);
}

double batch_factor(BatchRule rule, std::uint64_t batch, std::uint64_t base) {
  const double factor = static_cast<double>(batch) / static_cast<double>(base);
  return rule == BatchRule::none ? 1 : rule == BatchRule::linear ? factor : std::sqrt(factor);
}

}  // namespace dts::train
