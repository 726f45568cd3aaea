// SPDX-License-Identifier: Apache-2.0
// Recursive halving of runs of shards.
#include "core/train/comm/tree.hpp"

#include "core/train/device/kernels.hpp"

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
  add_into(left + begin, right + begin, end - begin);
  return left;
}

}  // namespace dts::train
