// SPDX-License-Identifier: Apache-2.0
#include "core/train/verify/first_difference.hpp"

#include "core/train/checkpoint/rows.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace dts::train {
namespace {

bool equals(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

std::optional<ChunkDifference> first_in(const Rows& rows, const State& there, const State& here) {
  std::vector<float> a(rows.floats());
  std::vector<float> b(rows.floats());
  copy_out(there, rows, a.data());
  copy_out(here, rows, b.data());
  const auto [first, other] = std::mismatch(a.begin(), a.end(), b.begin(), equals);
  if (first == a.end()) return std::nullopt;
  ChunkDifference found;
  found.tensor = rows.name;
  found.element = static_cast<std::size_t>(first - a.begin());
  found.begin = found.element / k_chunk * k_chunk;
  found.end = std::min(found.begin + k_chunk, a.size());
  for (std::size_t i = found.begin; i < found.end; ++i) found.count += equals(a[i], b[i]) ? 0 : 1;
  found.there = *first;
  found.here = *other;
  return found;
}

}  // namespace

bool are_alike(const Layout& a, const Layout& b) {
  const std::vector<Rows> there = all_rows(a);
  const std::vector<Rows> here = all_rows(b);
  return std::equal(
      there.begin(), there.end(), here.begin(), here.end(), [](const Rows& one, const Rows& two) {
        return one.name == two.name && one.shape() == two.shape();
      });
}

TensorDifferences compare_tensors(const Layout& layout, const State& there, const State& here) {
  TensorDifferences made;
  for (const Rows& rows : all_rows(layout)) {
    ++made.tensors;
    const auto found = first_in(rows, there, here);
    if (!found) continue;
    ++made.differ;
    if (!made.first) made.first = found;
  }
  return made;
}

}  // namespace dts::train
