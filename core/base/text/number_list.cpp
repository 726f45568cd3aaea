// SPDX-License-Identifier: Apache-2.0
#include "core/base/text/number_list.hpp"

#include "core/base/text/text.hpp"

#include <fmt/format.h>

namespace dts {
namespace {

constexpr std::size_t k_shortest_run = 3;

// The number of elements from `at` on that are `step` apart.
std::size_t run_length(const std::vector<unsigned>& numbers, std::size_t at, unsigned step) {
  std::size_t end = at + 1;
  while (end < numbers.size() && numbers[end] - numbers[end - 1] == step) ++end;
  return end - at;
}

enum class Steps { of_one, any };

std::string fold(const std::vector<unsigned>& numbers, Steps steps) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < numbers.size();) {
    const unsigned step =
        steps == Steps::any && at + 1 < numbers.size() ? numbers[at + 1] - numbers[at] : 1;
    const std::size_t length = run_length(numbers, at, step);
    if (length < k_shortest_run) {
      parts.push_back(std::to_string(numbers[at++]));
      continue;
    }
    parts.push_back(fmt::format("{}-{}", numbers[at], numbers[at + length - 1]));
    if (step != 1) parts.back() += fmt::format(":{}", step);
    at += length;
  }
  return join(parts, ",");
}

}  // namespace

std::optional<std::vector<unsigned>> parse_number_list(std::string_view text, unsigned most) {
  std::vector<unsigned> numbers;
  if (text.empty()) return numbers;
  for (const std::string& item : split(text, ',')) {
    const std::size_t dash = item.find('-');
    const auto first = parse_number(item.substr(0, dash));
    const auto last = dash == std::string::npos ? first : parse_number(item.substr(dash + 1));
    if (!first || !last || *last > most || *first > *last) return std::nullopt;
    for (auto number = *first; number <= *last; ++number)
      numbers.push_back(static_cast<unsigned>(number));
  }
  return numbers;
}

std::string fold_numbers(const std::vector<unsigned>& numbers) {
  return fold(numbers, Steps::of_one);
}

std::string fold_with_steps(const std::vector<unsigned>& numbers) {
  return fold(numbers, Steps::any);
}

}  // namespace dts
