// SPDX-License-Identifier: Apache-2.0
#include "core/base/text/array_indices.hpp"

#include "core/base/text/alike.hpp"
#include "core/base/text/number_list.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/utf8.hpp"

#include <fmt/format.h>

#include <optional>

namespace dts {
namespace {

constexpr const char* k_examples = "for example 0-9, 1,3,5, 0-15:4 or 0-99%10";
constexpr std::size_t k_longest_shown = 60;

tl::unexpected<Error> no_indices(std::string_view item) {
  return fail(Errc::invalid,
              fmt::format("`{}` names no indices of an array", printable(item, k_longest_shown)),
              k_examples);
}

struct IndexRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t step = 1;
};

// "7", "0-9", "0-15:4"
std::optional<IndexRange> parse_steps(std::string_view item) {
  const std::size_t dash = item.find('-');
  const std::size_t colon = item.find(':');
  if (dash == std::string_view::npos && colon != std::string_view::npos) return std::nullopt;
  const auto first = parse_number(item.substr(0, dash));
  if (!first) return std::nullopt;
  if (dash == std::string_view::npos) return IndexRange{*first, *first};
  const auto last = parse_number(item.substr(
      dash + 1, colon == std::string_view::npos ? colon : colon - std::min(colon, dash + 1)));
  const auto step = colon == std::string_view::npos ? std::optional<std::uint64_t>(1)
                                                    : parse_number(item.substr(colon + 1));
  if (!last || !step || *step == 0 || *last < *first || colon < dash) return std::nullopt;
  return IndexRange{*first, *last, *step};
}

Result<void> add(std::string_view item, std::vector<unsigned>& indices) {
  const auto steps = parse_steps(item);
  if (!steps) return no_indices(item);
  if (steps->last > k_highest_index)
    return fail(Errc::invalid,
                fmt::format("index {} is higher than {}, the highest that Slurm can have",
                            steps->last,
                            k_highest_index));
  if ((steps->last - steps->first) / steps->step + indices.size() >= k_most_elements)
    return fail(Errc::invalid,
                fmt::format("the array has more than {} elements", k_most_elements),
                "submit it in parts");
  for (auto index = steps->first; index <= steps->last; index += steps->step)
    indices.push_back(static_cast<unsigned>(index));
  return {};
}

}  // namespace

Result<ArrayIndices> parse_array_indices(std::string_view text) {
  ArrayIndices array;
  const std::size_t percent = text.find('%');
  if (percent != std::string_view::npos) {
    const auto most = parse_number(text.substr(percent + 1));
    if (!most || *most == 0 || *most > k_highest_index)
      return fail(Errc::invalid,
                  fmt::format("`{}` is not a number of elements that run at the same time",
                              printable(text.substr(percent), k_longest_shown)),
                  k_examples);
    array.at_once = static_cast<unsigned>(*most);
    text = text.substr(0, percent);
    if (text.empty()) return array;
  }
  for (const std::string& item : split(text, ',')) DTS_TRY(add(item, array.indices));
  make_set(array.indices);
  return array;
}

std::string to_text(const ArrayIndices& array) {
  const std::string indices = fold_with_steps(array.indices);
  return array.at_once == 0 ? indices : fmt::format("{}%{}", indices, array.at_once);
}

}  // namespace dts
