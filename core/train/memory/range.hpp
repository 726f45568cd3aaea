// SPDX-License-Identifier: Apache-2.0
// Extents of arrays: 64-bit, since a model may have more than 2^31 parameters. What is counted in
// shards, ranks, chunks or buckets is a Span (comm/tree.hpp). Pure.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <vector>

namespace dts::train {

// A half-open run [begin, end) of an array, in floats.
struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;

  [[nodiscard]] constexpr std::size_t size() const { return end - begin; }

  [[nodiscard]] constexpr std::size_t bytes() const { return size() * sizeof(float); }

  [[nodiscard]] constexpr bool has(std::size_t element) const {
    return begin <= element && element < end;
  }

  // What is in both; empty if nothing is.
  [[nodiscard]] constexpr Range common(Range other) const {
    const std::size_t first = std::max(begin, other.begin);
    return {first, std::max(first, std::min(end, other.end))};
  }

  // The `index`-th of `parts` contiguous parts, whose sizes differ by at most one, as part_of() a
  // Span has them.
  [[nodiscard]] constexpr Range part(int parts, int index) const {
    const auto at = [&](int part) {
      return begin + size() * static_cast<std::size_t>(part) / static_cast<std::size_t>(parts);
    };
    return {at(index), at(index + 1)};
  }

  auto operator<=>(const Range&) const = default;
};

// What `runs`, which are ascending and have no overlaps, have of `all`; none of it is empty.
[[nodiscard]] inline std::vector<Range> common_runs(const std::vector<Range>& runs, Range all) {
  std::vector<Range> common;
  auto run = std::partition_point(
      runs.begin(), runs.end(), [&](Range one) { return one.end <= all.begin; });
  for (; run != runs.end() && run->begin < all.end; ++run) common.push_back(all.common(*run));
  return common;
}

// What they leave of `all`.
[[nodiscard]] inline std::vector<Range> gaps_in(const std::vector<Range>& runs, Range all) {
  std::vector<Range> gaps;
  for (const Range run : common_runs(runs, all)) {
    if (run.begin > all.begin) gaps.push_back({all.begin, run.begin});
    all.begin = run.end;
  }
  if (all.size() > 0) gaps.push_back(all);
  return gaps;
}

}  // namespace dts::train
