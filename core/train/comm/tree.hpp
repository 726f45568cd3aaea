// SPDX-License-Identifier: Apache-2.0
// The binary tree over virtual shards along which everything is summed (dttrain(1), DESCRIPTION).
//
// The tree over [0, V) is recursive halving: the children of [lo, hi) are [lo, mid) and [mid, hi)
// with mid = lo + (hi - lo + 1) / 2. It depends on V alone, so sums along it do not depend on which
// rank or thread computed which shard. All functions are pure.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

namespace dts::train {

// A half-open run of shards [lo, hi); as a node of the tree, the sum over these shards.
struct Span {
  int lo = 0;
  int hi = 0;

  [[nodiscard]] int size() const { return hi - lo; }

  auto operator<=>(const Span&) const = default;
};

[[nodiscard]] Span left_child(Span node);
[[nodiscard]] Span right_child(Span node);

// The part of `whole` that belongs to the `index`-th of `parts` owners. Parts are contiguous, and
// their sizes differ by at most one.
[[nodiscard]] Span part_of(Span whole, int parts, int index);

// The index of the owner whose part, by part_of(), has `element` of `whole`, which must not be
// empty.
[[nodiscard]] int owner_in(Span whole, int parts, int element);

// The smallest set of nodes of the tree over [0, shards) that covers exactly `run`, left to right.
[[nodiscard]] std::vector<Span> maximal_nodes(int shards, Span run);

// Partial sums, by tree node. The arrays belong to the caller.
using Partials = std::map<Span, float*>;
using ConstPartials = std::map<Span, const float*>;

// Adds up the partials below `node` in tree order, elements [begin, end) only, in place: the result
// overwrites those elements of the leftmost partial, whose array is returned. nullptr if a shard of
// `node` is missing. Threads may combine different element ranges concurrently.
[[nodiscard]] float* combine(Span node,
                             const Partials& partials,
                             std::size_t begin,
                             std::size_t end);

// Writes the same sum to `sums` [count] without changing a partial; none may be missing.
void combine_to(float* sums, Span node, const ConstPartials& partials, std::size_t count);

}  // namespace dts::train
