// SPDX-License-Identifier: Apache-2.0
#include "core/train/update/injection.hpp"

#include "core/base/text/names.hpp"
#include "core/base/text/text.hpp"

#include <algorithm>

namespace dts::train {
namespace {

using Target = Injection::Target;

constexpr Names<Target, 8> k_whats{{{Target::weight, "weight"},
                                    {Target::gradient, "gradient"},
                                    {Target::computation, "computation"},
                                    {Target::momentum, "momentum"},
                                    {Target::message, "message"},
                                    {Target::statistic, "statistic"},
                                    {Target::nan, "nan"},
                                    {Target::call, "call"}}};
constexpr std::uint64_t k_largest_number = 1000000000;

// Returns the text before `separator`, and leaves in `text` what follows it, or nothing.
std::string_view take(std::string_view& text, char separator) {
  const std::string_view head = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(head.size() + 1, text.size()));
  return head;
}

std::optional<std::uint64_t> number(std::string_view text) {
  const auto value = parse_number(text);
  return value && *value <= k_largest_number ? value : std::nullopt;
}

std::optional<std::size_t> element_of(const std::vector<Tensor>& tensors,
                                      std::string_view tensor,
                                      std::string_view index) {
  const auto at = index.empty() ? std::optional<std::uint64_t>(0) : parse_number(index);
  for (const Tensor& one : tensors)
    if (one.name == tensor && at && *at < one.count) return one.offset + *at;
  return std::nullopt;
}

}  // namespace

std::optional<Injection> parse_injection(const Layout& layout, std::string_view text) {
  std::string_view place = take(text, '@');
  const auto what = value_of(k_whats, take(place, ':'));
  const auto step = number(take(text, ':'));
  if (!what || !step || *step == 0) return std::nullopt;
  Injection made{*what, 0, 0, *step, 0};
  const bool has_rank = *what != Target::nan && *what != Target::momentum;
  const auto rank = has_rank       ? number(text)
                    : text.empty() ? std::optional<std::uint64_t>(0)
                                   : std::nullopt;
  if (!rank) return std::nullopt;
  made.rank = static_cast<int>(*rank);
  if (*what == Target::call) return place.empty() ? std::optional(made) : std::nullopt;
  if (*what == Target::nan) {
    const auto shard = number(place);
    if (!shard) return std::nullopt;
    made.shard = static_cast<int>(*shard);
    return made;
  }
  const std::string_view tensor = take(place, ':');
  const auto element =
      element_of(*what == Target::statistic ? layout.statistics : layout.parameters, tensor, place);
  if (!element) return std::nullopt;
  made.element = *element;
  return made;
}

}  // namespace dts::train
