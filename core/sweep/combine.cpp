// SPDX-License-Identifier: Apache-2.0
#include "core/sweep/combine.hpp"

#include "core/base/random.hpp"
#include "core/base/text/array_indices.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace dts::sweep {
namespace {

// Grids beyond this are only sampled. Every smaller number is exact as a double.
constexpr std::uint64_t k_largest_grid = std::uint64_t{1} << 53;

// The number of combinations, at most k_largest_grid.
std::uint64_t size_of_grid(const std::vector<Axis>& axes) {
  std::uint64_t size = 1;
  for (const Axis& axis : axes) {
    const std::uint64_t count = std::max<std::size_t>(1, axis.values.size());
    if (size > k_largest_grid / count) return k_largest_grid;
    size *= count;
  }
  return size;
}

// Combination number `at` of the grid.
std::vector<std::string> row_of_grid(const std::vector<Axis>& axes, std::uint64_t at) {
  std::vector<std::string> row(axes.size());
  for (std::size_t i = axes.size(); i-- > 0;) {
    row[i] = axes[i].values[at % axes[i].values.size()];
    at /= axes[i].values.size();
  }
  return row;
}

Result<Rows> grid(const std::vector<Axis>& axes) {
  const std::uint64_t size = size_of_grid(axes);
  if (size > k_most_elements)
    return fail(Errc::invalid,
                fmt::format("the grid has {} elements, at most {}",
                            size == k_largest_grid ? "far too many" : std::to_string(size),
                            k_most_elements),
                "choose fewer values, or --sweep-mode random:N");
  Rows rows;
  for (std::uint64_t at = 0; at < size; ++at) rows.push_back(row_of_grid(axes, at));
  return rows;
}

Result<Rows> zip(const std::vector<Axis>& axes) {
  std::size_t longest = 1;
  for (const Axis& axis : axes) longest = std::max(longest, axis.values.size());
  Rows rows(longest);
  for (const Axis& axis : axes) {
    if (axis.values.size() != longest && axis.values.size() != 1)
      return fail(Errc::invalid,
                  fmt::format("with zip `{}` has {} values, another parameter {}",
                              axis.name,
                              axis.values.size(),
                              longest),
                  "give all as many, or one");
    for (std::size_t i = 0; i < longest; ++i)
      rows[i].push_back(axis.values[axis.values.size() == 1 ? 0 : i]);
  }
  return rows;
}

// Six digits, because the last bits of exp() and log() differ between libms.
std::string drawn(const Interval& interval, Random& random) {
  const double part = random.uniform();
  const double value = interval.logarithmic
                           ? std::exp(std::log(interval.low) +
                                      part * (std::log(interval.high) - std::log(interval.low)))
                           : interval.low + part * (interval.high - interval.low);
  return fmt::format("{:.6g}", value);
}

std::uint64_t below(std::uint64_t bound, Random& random) {
  return static_cast<std::uint64_t>(random.uniform() * static_cast<double>(bound));
}

// `count` distinct numbers below `size`, in the order drawn.
std::vector<std::uint64_t> different(std::size_t count, std::uint64_t size, Random& random) {
  std::vector<std::uint64_t> numbers;
  if (size > 2 * count) {
    std::set<std::uint64_t> seen;
    while (numbers.size() < count)
      if (const std::uint64_t number = below(size, random); seen.insert(number).second)
        numbers.push_back(number);
    return numbers;
  }
  for (std::uint64_t i = 0; i < size; ++i) numbers.push_back(i);
  for (std::size_t i = 0; i < count; ++i)
    std::swap(numbers[i], numbers[i + below(size - i, random)]);
  numbers.resize(count);
  return numbers;
}

Result<Rows> random_rows(const std::vector<Axis>& axes, const Mode& mode) {
  const bool has_interval =
      std::any_of(axes.begin(), axes.end(), [](const Axis& axis) { return axis.interval; });
  Random random(mode.seed, 0);
  Rows rows;
  if (has_interval) {
    for (std::size_t i = 0; i < mode.count; ++i)
      for (std::vector<std::string>& row = rows.emplace_back(); const Axis& axis : axes)
        row.push_back(axis.interval ? drawn(*axis.interval, random)
                                    : axis.values[below(axis.values.size(), random)]);
    return rows;
  }
  const std::uint64_t size = size_of_grid(axes);
  if (size < mode.count)
    return fail(Errc::invalid,
                fmt::format("{} random elements, but the grid has only {}", mode.count, size),
                "omit --sweep-mode, or give an interval: lr=log(1e-5..1e-1)");
  for (const std::uint64_t at : different(mode.count, size, random))
    rows.push_back(row_of_grid(axes, at));
  return rows;
}

}  // namespace

Result<Mode> parse_mode(const std::string& text) {
  if (text.empty() || text == "grid" || text == "zip") return Mode{text.empty() ? "grid" : text};
  const std::vector<std::string> parts = split(text, ':');
  const auto count = parts.size() > 1 ? parse_number(parts[1]) : std::nullopt;
  const auto seed = parts.size() > 2 ? parse_number(parts[2]) : std::optional<std::uint64_t>(0);
  if (parts.front() != "random" || parts.size() > 3 || !count || *count == 0 || !seed)
    return fail(Errc::invalid,
                fmt::format("`{}` is not a way to combine values", printable(text, 60)),
                "grid, zip, random:N or random:N:SEED");
  if (*count > k_most_elements)
    return fail(Errc::invalid, fmt::format("{} elements, at most {}", *count, k_most_elements));
  return Mode{"random", *count, *seed};
}

Result<Rows> combine(const std::vector<Axis>& axes, const Mode& mode) {
  if (mode.name == "random") return random_rows(axes, mode);
  for (const Axis& axis : axes)
    if (axis.interval)
      return fail(Errc::invalid,
                  fmt::format("`{}` is an interval, from which only random draws", axis.name),
                  "add --sweep-mode random:N");
  return mode.name == "zip" ? zip(axes) : grid(axes);
}

}  // namespace dts::sweep
