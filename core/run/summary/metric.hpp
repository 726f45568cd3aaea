// SPDX-License-Identifier: Apache-2.0
// One number from a run's metrics, by which it is compared with other runs. Pure, thread-safe.
#pragma once

#include "core/base/result.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace dts::run {

// Which number to use, and whether low or high values are better.
struct Metric {
  std::string name;
  bool lowest = true;
};

// "loss", "accuracy:max", "loss:min". Without a direction, lower is better for a name that ends in
// loss, error or perplexity, otherwise higher.
[[nodiscard]] Result<Metric> parse_metric(const std::string& text);

// The last number of that name in metrics.jsonl; nullopt if there is none.
[[nodiscard]] std::optional<double> last_number(std::string_view metrics, const std::string& name);

}  // namespace dts::run
