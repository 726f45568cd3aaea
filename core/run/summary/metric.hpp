// SPDX-License-Identifier: Apache-2.0
// One number of a run to compare it with others, from its metrics. Pure, thread-safe.
#pragma once

#include "core/base/result.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace dts::run {

// Which number, and which is better.
struct Metric {
  std::string name;
  bool lowest = true;
};

// "loss", "accuracy:max", "loss:min". Without a direction a name that ends in loss, error or
// perplexity is better low, any other high.
[[nodiscard]] Result<Metric> parse_metric(const std::string& text);

// The last number of that name in metrics.jsonl; nullopt: it has none.
[[nodiscard]] std::optional<double> last_number(std::string_view metrics, const std::string& name);

}  // namespace dts::run
