// SPDX-License-Identifier: Apache-2.0
#include "core/check/limits.hpp"

#include "core/base/text/text.hpp"

#include <fmt/format.h>

namespace dts::check {
namespace {

std::string all_keys() {
  std::vector<std::string> keys{"noise"};
  for (const Measure& measure : k_measures) keys.emplace_back(measure.key);
  return join(keys, ", ");
}

}  // namespace

double Limits::tolerance(const Measure& measure) const {
  const auto own = tolerances.find(measure.key);
  return own == tolerances.end() ? measure.tolerance : own->second;
}

Result<void> set_limit(const std::string& text, Limits& limits) {
  const std::size_t equals = text.find('=');
  const std::string key = text.substr(0, equals);
  const Measure* measure = find_measure(key);
  if (equals == std::string::npos || (measure == nullptr && key != "noise"))
    return fail(Errc::usage,
                fmt::format("`{}` is not a tolerance of a measure", text),
                "MEASURE=PERCENT, of " + all_keys());
  std::string digits = text.substr(equals + 1);
  if (!digits.empty() && digits.back() == '%') digits.pop_back();
  const auto number = parse_real(digits);
  const bool is_offset = measure != nullptr && measure->family == Family::clock;
  // A rate may be worse by at most 95 %, a time by any factor.
  const bool is_share = measure != nullptr && measure->better == Better::higher;
  if (!number || *number < 0 || *number > (is_share ? 95.0 : 1e6) ||
      (measure == nullptr && *number < 1))
    return fail(Errc::usage,
                fmt::format("`{}` is out of range", text),
                is_offset            ? "milliseconds"
                : measure == nullptr ? "standard deviations, at least 1"
                : is_share           ? "percent, 0 to 95"
                                     : "percent");
  if (measure == nullptr)
    limits.deviations = *number;
  else
    limits.tolerances[key] = *number / (is_offset ? 1000 : 100);
  return {};
}

}  // namespace dts::check
