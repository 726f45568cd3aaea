// SPDX-License-Identifier: Apache-2.0
// Extents of arrays, in 64 bits, since a model may have more than 2^31 parameters. Counts of
// shards, ranks, chunks and buckets use Span (comm/tree.hpp). Pure.
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

  // The intersection; empty if there is none.
  [[nodiscard]] constexpr Range common(Range other) const {
    const std::size_t first = std::max(begin, other.begin);
    return {first, std::max(first, std::min(end, other.end))};
  }

  // The `index`-th of `parts` contiguous parts, whose sizes differ by at most one; like part_of()
  // for a Span.
  [[nodiscard]] constexpr Range part(int parts, int index) const {
    const auto at = [&](int part) {
      return begin + size() * static_cast<std::size_t>(part) / static_cast<std::size_t>(parts);
    };
    return {at(index), at(index + 1)};
  }

  auto operator<=>(const Range&) const = default;
};

// The intersections of `all` with `runs`, which are ascending and do not overlap; without empty
// ones.
[[nodiscard]] inline std::vector<Range> common_runs(const std::vector<Range>& runs, Range all) {
  std::vector<Range> common;
  auto run = std::partition_point(
      runs.begin(), runs.end(), [&](Range one) { return one.end <= all.begin; });
  for (; run != runs.end() && run->begin < all.end; ++run) common.push_back(all.common(*run));
  return common;
}

// The parts of `all` that `runs` do not cover.
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
