// SPDX-License-Identifier: Apache-2.0
#include "core/sweep/axis.hpp"

#include "core/base/text/array_indices.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/utf8.hpp"
#include "core/base/variable_name.hpp"
#include "core/sweep/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace dts::sweep {
namespace {

constexpr std::size_t k_longest_shown = 60;
constexpr const char* k_examples = "for example lr=0.1,0.01 or seed=1..3";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

struct Place {
  const std::string& text;  // the complete text
  Diagnostics& problems;

  void say(std::size_t at, std::string message, std::string hint = {}) const {
    const bool shown = text.size() <= 160 && is_utf8(text) && is_printable(text);
    problems.push_back({"--sweep",
                        std::move(message),
                        std::move(hint),
                        shown ? text : "",
                        shown ? static_cast<int>(at) + 1 : 0});
  }
};

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return rest == end && error == std::errc() ? std::optional(number) : std::nullopt;
}

bool looks_like_range(std::string_view text) {
  return text.find("..") != std::string_view::npos &&
         (is_digit(text.front()) || text.front() == '-' || text.front() == '+');
}

struct Range {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t step = 1;
};

// "1..3", "0..100:20"
std::optional<Range> parse_range(std::string_view text) {
  const std::size_t dots = text.find("..");
  const std::size_t colon = std::min(text.find(':', dots), text.size());
  const auto first = whole(text.substr(0, dots));
  const auto last = whole(text.substr(dots + 2, colon - dots - 2));
  const bool has_step = colon < text.size();
  const auto step = has_step ? whole(text.substr(colon + 1)) : std::nullopt;
  if (!first || !last || (has_step && !step)) return std::nullopt;
  return Range{*first, *last, step.value_or(1)};
}

void add_range(const Field& field, std::vector<std::string>& values, const Place& place) {
  const auto range = parse_range(field.text);
  if (!range)
    return place.say(
        field.at,
        fmt::format("`{}` is not a range of whole numbers", printable(field.text, k_longest_shown)),
        "FIRST..LAST or FIRST..LAST:STEP, or write the values out; a text is quoted: "
        "\"1..x\"");
  if (range->step <= 0 || range->last < range->first)
    return place.say(
        field.at, fmt::format("`{}` is empty", field.text), "FIRST..LAST[:STEP], upwards");
  const auto first = static_cast<std::uint64_t>(range->first);
  const auto step = static_cast<std::uint64_t>(range->step);
  const std::uint64_t count = (static_cast<std::uint64_t>(range->last) - first) / step;
  if (count + values.size() >= k_most_elements)
    return place.say(field.at,
                     fmt::format("`{}` has more than {} values", field.text, k_most_elements),
                     "choose fewer");
  for (std::uint64_t i = 0; i <= count; ++i)
    values.push_back(std::to_string(static_cast<std::int64_t>(first + i * step)));
}

// "uniform(0..1)", "log(1e-5..1e-1)"; nullopt for any other text.
std::optional<Interval> parse_interval(const Field& field, const Place& place) {
  const std::string_view text = field.text;
  const bool logarithmic = text.rfind("log(", 0) == 0;
  if (field.quoted || text.empty() || text.back() != ')' ||
      (!logarithmic && text.rfind("uniform(", 0) != 0))
    return std::nullopt;
  const std::size_t open = text.find('(') + 1;
  const std::size_t dots = std::min(text.find("..", open), text.size() - 1);
  const auto low = parse_real(text.substr(open, dots - open));
  const std::size_t behind = std::min(dots + 2, text.size() - 1);
  const auto high = parse_real(text.substr(behind, text.size() - 1 - behind));
  if (!low || !high || *low >= *high || (logarithmic && *low <= 0)) {
    place.say(
        field.at,
        fmt::format("`{}` is not an interval", printable(text, k_longest_shown)),
        logarithmic ? "for example log(1e-5..1e-1), both above 0" : "for example uniform(0..1)");
    return Interval{};
  }
  return Interval{*low, *high, logarithmic};
}

void add_field(const Field& field, bool only, Axis& axis, const Place& place) {
  if (field.text.empty() && !field.quoted)
    return place.say(field.at, "a value is empty", "an empty text is \"\"");
  if (auto trouble = trouble_with_value(field.text); !trouble.empty())
    return place.say(field.at, std::move(trouble));
  if (const auto interval = parse_interval(field, place)) {
    axis.interval = interval;
    if (!only) place.say(field.at, "an interval and other values", "write only the interval");
    return;
  }
  if (!field.quoted && looks_like_range(field.text)) return add_range(field, axis.values, place);
  axis.values.push_back(field.text);
}

}  // namespace

bool is_name(std::string_view text) {
  return text.size() <= k_longest_name && is_variable_name(text);
}

std::string variable_of(std::string name) {
  for (char& c : name)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return "DTSUBMIT_PARAMETER_" + name;
}

std::string trouble_with_name(const std::string& name, const std::vector<std::string>& before) {
  if (!is_name(name))
    return fmt::format(
        "`{}` is not a parameter's name: a letter or `_`, then letters, digits or "
        "`_`, at most {}",
        printable(name, k_longest_shown),
        k_longest_name);
  if (variable_of(name) == variable_of("index")) return "`index` is the element's own number";
  for (const std::string& other : before)
    if (variable_of(other) == variable_of(name))
      return other == name
                 ? fmt::format("parameter `{}` is given twice", name)
                 : fmt::format(
                       "`{}` and `{}` would be one variable, {}", other, name, variable_of(name));
  return {};
}

std::string trouble_with_value(const std::string& value) {
  if (!is_utf8(value)) return "the value is not UTF-8 text";
  if (!is_printable(value)) return "the value contains a control character";
  if (value.size() > k_longest_value)
    return fmt::format("the value has {} bytes, at most {}", value.size(), k_longest_value);
  return {};
}

Axis parse_axis(const std::string& text, Diagnostics& problems) {
  const Place place{text, problems};
  const std::size_t equals = std::min(text.find('='), text.size());
  Axis axis{text.substr(0, equals)};
  if (equals == text.size() || !is_name(axis.name)) {
    place.say(0,
              equals == text.size() ? "neither NAME=VALUES nor a file that ends in .csv"
                                    : trouble_with_name(axis.name, {}),
              k_examples);
    return axis;
  }
  std::size_t at = equals + 1;
  const Record record = read_record(text, at);
  if (!record.problem.empty()) {
    place.say(record.where, record.problem);
  } else if (at < text.size() || text.find_first_of("\r\n") != std::string::npos) {
    place.say(
        equals + 1, "the values continue on a second line", "give them in one, or a CSV file");
  } else {
    for (const Field& field : record.fields)
      add_field(field, record.fields.size() == 1, axis, place);
  }
  return axis;
}

}  // namespace dts::sweep
