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

struct Count {
  double value = 0;
  std::string_view rest;  // behind it
};

// 1200 of "1.20k/5.00k".
std::optional<Count> count_at_start(std::string_view text) {
  constexpr std::string_view k_factors = "kMGT";
  Count count;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), count.value);
  if (read.ec != std::errc()) return std::nullopt;
  count.rest = text.substr(static_cast<std::size_t>(read.ptr - text.data()));
  const std::size_t factor =
      count.rest.empty() ? std::string_view::npos : k_factors.find(count.rest.front());
  if (factor == std::string_view::npos) return count;
  count.rest.remove_prefix(1);
  for (std::size_t i = 0; i <= factor; ++i) count.value *= 1000;
  return count;
}

// 70 of " 70/100 [...".
std::optional<double> position_of(std::string_view bar) {
  std::string_view counts = counts_of(bar);
  counts.remove_prefix(std::min(counts.find_first_not_of(' '), counts.size()));
  const auto count = count_at_start(counts);
  return count && count->rest.starts_with('/') ? std::optional(count->value) : std::nullopt;
}

// 48.8 of "[00:01<00:00, 48.8it/s, loss=2]"; 0 for "2.1s/it", "?it/s" and none.
double rate_of(std::string_view bar) {
  const std::string_view counts = counts_of(bar);
  const std::size_t comma = counts.find(", ");
  if (comma == std::string_view::npos) return 0;
  const auto count = count_at_start(counts.substr(comma + 2));
  if (!count) return 0;
  return count->rest.substr(0, count->rest.find_first_of(",]")).ends_with("/s") ? count->value : 0;
}

}  // namespace

std::size_t length_of_bar(std::string_view text) {
  const std::string_view counts = counts_of(text);
  int depth = 0;  // of brackets, as in "[00:01<00:00, 48.8it/s, lr=[0.001]]"
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == '[') ++depth;
    if (counts[i] == ']' && --depth <= 0) return text.size() - counts.size() + i + 1;
  }
  return 0;
}

bool is_redrawn(std::string_view bar, std::string_view earlier) {
  const auto now = position_of(bar), before = position_of(earlier);
  return now && before && *now >= *before && *now <= *before + std::max(1.0, rate_of(earlier));
}

}  // namespace dts::run
