// SPDX-License-Identifier: Apache-2.0
#include "core/base/text/duration.hpp"

#include "core/base/text/text.hpp"

#include <fmt/format.h>

#include <cmath>

namespace dts {
namespace {

// The length of a unit in seconds, 0 for any other letter.
double unit(char letter) {
  switch (letter) {
    case 's':
      return 1;
    case 'm':
      return 60;
    case 'h':
      return 3600;
    case 'd':
      return 86400;
    default:
      return 0;
  }
}

}  // namespace

Result<Seconds> parse_duration(std::string_view text) {
  std::string_view digits = text;
  double length = 1;
  if (!text.empty() && unit(text.back()) > 0) {
    length = unit(text.back());
    digits.remove_suffix(1);
  }
  const auto number = parse_real(digits);
  if (!number || !(*number >= 0) || !std::isfinite(*number * length))
    return fail(Errc::invalid,
                fmt::format("`{}` is not a length of time", text),
                "write seconds, or a number with s, m, h or d, e.g. 20 or 1.5h");
  return Seconds(*number * length);
}

std::string format_duration(Seconds time) {
  if (!std::isfinite(time.count())) return "never";
  if (time.count() < 60) return fmt::format("{:.3g} s", time.count());
  if (time.count() < 3600) return fmt::format("{:.3g} min", time.count() / 60);
  if (time.count() < 86400) return fmt::format("{:.3g} h", time.count() / 3600);
  const double days = time.count() / 86400;
  return days < 1000 ? fmt::format("{:.3g} d", days) : fmt::format("{:.0f} d", days);
}

}  // namespace dts
