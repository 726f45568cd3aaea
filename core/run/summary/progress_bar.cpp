// SPDX-License-Identifier: Apache-2.0
#include "core/run/summary/progress_bar.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace dts::run {
namespace {

// The text behind the drawing, " 70/100 [00:01<00:00, 48.8it/s]"; empty: there is no bar.
std::string_view counts_of(std::string_view text) {
  const std::size_t begin = text.find("%|");
  if (begin == std::string_view::npos) return {};
  const std::size_t end = text.find('|', begin + 2);
  return end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
}

// 70 of " 70/100 [...".
std::optional<double> position_of(std::string_view bar) {
  std::string_view counts = counts_of(bar);
  counts.remove_prefix(std::min(counts.find_first_not_of(' '), counts.size()));
  double position = 0;
  const auto read = std::from_chars(counts.data(), counts.data() + counts.size(), position);
  const bool is_count = read.ec == std::errc() && read.ptr != counts.data() + counts.size();
  return is_count && *read.ptr == '/' ? std::optional(position) : std::nullopt;
}

}  // namespace

std::size_t length_of_bar(std::string_view text) {
  const std::string_view counts = counts_of(text);
  const std::size_t end = counts.find(']');
  if (end == std::string_view::npos) return 0;
  return text.size() - counts.size() + end + 1;
}

bool is_redrawn(std::string_view bar, std::string_view earlier) {
  const auto now = position_of(bar), before = position_of(earlier);
  return now && before && *now >= *before && *now <= *before + 1;
}

}  // namespace dts::run
