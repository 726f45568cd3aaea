// SPDX-License-Identifier: Apache-2.0
// When to save during training. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace dts::train {

struct SaveRule {
  // The interval until there is advice; short enough that a save is soon measured, since advice
  // depends on it.
  static constexpr std::uint64_t k_unadvised = 50;  // steps

  std::optional<std::uint64_t> every;  // steps; 0: never; absent: follow advice

  // Whether to save after the step that completes `steps`. `since` is the time since the last save
  // or the start; `advised` is the advised time between saves, 0 if not known yet.
  [[nodiscard]] bool due(std::uint64_t steps,
                         std::chrono::milliseconds since,
                         std::chrono::milliseconds advised) const {
    if (!every && advised.count() > 0) return since >= advised;
    const std::uint64_t in_steps = every.value_or(k_unadvised);
    return in_steps != 0 && steps % in_steps == 0;
  }
};

}  // namespace dts::train
