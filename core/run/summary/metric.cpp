// SPDX-License-Identifier: Apache-2.0
#include "core/run/summary/metric.hpp"

#include "core/base/text/json_text.hpp"
#include "core/base/text/utf8.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace dts::run {

Result<Metric> parse_metric(const std::string& text) {
  const std::size_t colon = std::min(text.rfind(':'), text.size());
  const std::string direction = text.substr(std::min(colon + 1, text.size()));
  Metric metric{text.substr(0, colon)};
  if (metric.name.empty() || (colon < text.size() && direction != "min" && direction != "max"))
    return fail(Errc::usage,
                fmt::format("`{}` is not a metric", printable(text, 60)),
                "NAME, NAME:min or NAME:max, e.g. accuracy:max");
  const auto ends_in = [&](std::string_view word) { return metric.name.ends_with(word); };
  metric.lowest = colon < text.size()
                      ? direction == "min"
                      : std::ranges::any_of(std::array{"loss", "error", "perplexity"}, ends_in);
  return metric;
}

std::optional<double> last_number(std::string_view metrics, const std::string& name) {
  const std::string key = json_line(nlohmann::json(name));
  while (!metrics.empty()) {
    const std::size_t end = metrics.find_last_not_of('\n');
    if (end == std::string_view::npos) break;
    const std::size_t before = metrics.rfind('\n', end);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    const std::string_view line = metrics.substr(begin, end + 1 - begin);
    metrics = metrics.substr(0, begin);
    if (line.find(key) == std::string_view::npos) continue;
    const auto object = nlohmann::json::parse(line, nullptr, false);
    if (!object.is_object()) continue;
    if (const auto found = object.find(name); found != object.end() && found->is_number())
      return found->get<double>();
  }
  return std::nullopt;
}

}  // namespace dts::run
