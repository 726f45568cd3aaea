// SPDX-License-Identifier: Apache-2.0
// Recursive halving of runs of shards.
#include "core/train/comm/tree.hpp"

#include "core/train/device/kernels.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace dts::train {
namespace {

int middle(Span node) {
  return node.lo + (node.size() + 1) / 2;
}

void collect(Span node, Span run, std::vector<Span>& out) {
  if (node.hi <= run.lo || run.hi <= node.lo) return;
  if (run.lo <= node.lo && node.hi <= run.hi) {
    out.push_back(node);
    return;
  }
  collect(left_child(node), run, out);
  collect(right_child(node), run, out);
}

using PathSums = std::array<float, 2048>;  // the sums of a path to a leaf fit in the cache

struct BlockOf {
  std::size_t at;
  std::size_t size;
  PathSums* spare;  // for right children from this depth on
};

// Returns where the sum of `node` is: in its own partial if there is one, otherwise in `to`.
const float* block_sum(Span node, const ConstPartials& partials, BlockOf block, float* to) {
  if (const auto found = partials.find(node); found != partials.end())
    return found->second + block.at;
  const BlockOf below{block.at, block.size, block.spare + 1};
  const float* const left = block_sum(left_child(node), partials, below, to);
  const float* const right = block_sum(right_child(node), partials, below, block.spare->data());
  add(to, left, right, block.size);
  return to;
}

}  // namespace

Span left_child(Span node) {
  return {node.lo, middle(node)};
}

Span right_child(Span node) {
  return {middle(node), node.hi};
}

Span part_of(Span whole, int parts, int index) {
  const long size = whole.size();
  return {whole.lo + static_cast<int>(size * index / parts),
          whole.lo + static_cast<int>(size * (index + 1) / parts)};
}

int owner_in(Span whole, int parts, int element) {
  int index = static_cast<int>(static_cast<long>(element - whole.lo) * parts / whole.size());
  while (part_of(whole, parts, index).hi <= element) ++index;
  while (part_of(whole, parts, index).lo > element) --index;
  return index;
}

std::vector<Span> maximal_nodes(int shards, Span run) {
  std::vector<Span> nodes;
  if (run.size() > 0) collect({0, shards}, run, nodes);
  return nodes;
}

float* combine(Span node, const Partials& partials, std::size_t begin, std::size_t end) {
  if (const auto found = partials.find(node); found != partials.end()) return found->second;
  if (node.size() <= 1) return nullptr;
  float* const left = combine(left_child(node), partials, begin, end);
  const float* const right = combine(right_child(node), partials, begin, end);
  if (left == nullptr || right == nullptr) return nullptr;
  add(left + begin, left + begin, right + begin, end - begin);
  return left;
}

void combine_to(float* sums, Span node, const ConstPartials& partials, std::size_t count) {
  std::vector<PathSums> spare(std::bit_width(static_cast<unsigned>(node.size())));
  for (std::size_t at = 0; at < count; at += PathSums().size()) {
    const std::size_t size = std::min(PathSums().size(), count - at);
    const float* const sum = block_sum(node, partials, {at, size, spare.data()}, sums + at);
    if (sum != sums + at) std::copy_n(sum, size, sums + at);
  }
}

}  // namespace dts::train
