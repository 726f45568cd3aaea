// SPDX-License-Identifier: Apache-2.0
#include "core/base/release.hpp"

#include <fmt/format.h>

#include <charconv>

namespace dts {

std::optional<Release> release_of(std::string_view text) {
  Release release;
  const char* const end = text.data() + text.size();
  const auto year = std::from_chars(text.data(), end, release.year);
  if (year.ec != std::errc() || year.ptr == end || *year.ptr != '.') return std::nullopt;
  const auto month = std::from_chars(year.ptr + 1, end, release.month);
  return month.ec == std::errc() ? std::optional(release) : std::nullopt;
}

std::string to_string(Release release) {
  return fmt::format("{}.{:02}", release.year, release.month);
}

}  // namespace dts
