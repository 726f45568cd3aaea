// SPDX-License-Identifier: Apache-2.0
// The shard tree: sums must not depend on the number of owners of the shards.
#include "core/train/comm/tree.hpp"

#include "core/train/comm/hierarchy.hpp"
#include "core/train/data/sampler.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <vector>

using namespace dts::train;

namespace {

constexpr std::size_t k_floats = 48;

// Values of both signs over six decades, so that another order of additions changes bits.
std::vector<std::vector<float>> shard_values(int shards) {
  std::vector<std::vector<float>> all;
  for (int shard = 0; shard < shards; ++shard) {
    std::vector<float> values(k_floats);
    for (std::size_t i = 0; i < k_floats; ++i) {
      const std::uint64_t bits = dts::mix(static_cast<std::uint64_t>(shard) * k_floats + i);
      const float decades[] = {1e-3F, 1e-2F, 1e-1F, 1, 10, 100, 1000};
      values[i] = (static_cast<float>(bits >> 40) / 16777216.0F - 0.5F) * decades[bits % 7];
    }
    all.push_back(values);
  }
  return all;
}

void node_sum(Span node, std::vector<std::vector<float>>& values) {
  if (node.size() == 1) return;
  node_sum(left_child(node), values);
  node_sum(right_child(node), values);
  for (std::size_t i = 0; i < k_floats; ++i)
    values[static_cast<std::size_t>(node.lo)][i] +=
        values[static_cast<std::size_t>(right_child(node).lo)][i];
}

// The sum as computed by `owners` owners together.
std::vector<float> sum_by(int owners, int shards) {
  std::vector<std::vector<float>> values = shard_values(shards);
  Partials partials;
  for (int owner = 0; owner < owners; ++owner)
    for (const Span node : maximal_nodes(shards, part_of({0, shards}, owners, owner))) {
      node_sum(node, values);
      partials[node] = values[static_cast<std::size_t>(node.lo)].data();
    }
  const float* const sum = combine({0, shards}, partials, 0, k_floats);
  REQUIRE(sum != nullptr);
  return {sum, sum + k_floats};
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

std::vector<int> shard_counts() {
  std::vector<int> counts{32, 64, 100};
  for (int shards = 1; shards <= 17; ++shards) counts.push_back(shards);
  return counts;
}

}  // namespace

TEST_CASE("the sum over shards has the same bits for every number of owners") {
  for (const int shards : shard_counts()) {
    const std::vector<float> alone = sum_by(1, shards);
    for (int owners = 2; owners <= shards; ++owners) {
      CAPTURE(shards);
      CAPTURE(owners);
      CHECK(same_bits(alone, sum_by(owners, shards)));
    }
  }
}

TEST_CASE("adding shards left to right gives other bits, so the test above can fail") {
  std::vector<std::vector<float>> values = shard_values(64);
  for (std::size_t shard = 1; shard < 64; ++shard)
    for (std::size_t i = 0; i < k_floats; ++i) values[0][i] += values[shard][i];
  CHECK_FALSE(same_bits(values[0], sum_by(1, 64)));
}

TEST_CASE("the parts of a span cover it in order and differ by at most one") {
  for (int parts = 1; parts <= 40; ++parts) {
    int next = 3;
    for (int index = 0; index < parts; ++index) {
      const Span part = part_of({3, 40}, parts, index);
      CHECK(part.lo == next);
      CHECK(part.size() >= 37 / parts);
      CHECK(part.size() <= 37 / parts + 1);
      next = part.hi;
    }
    CHECK(next == 40);
  }
}

TEST_CASE("maximal nodes are a run's whole sub-trees") {
  CHECK(maximal_nodes(16, {0, 16}) == std::vector<Span>{{0, 16}});
  CHECK(maximal_nodes(16, {8, 12}) == std::vector<Span>{{8, 12}});
  CHECK(maximal_nodes(16, {3, 9}) == std::vector<Span>{{3, 4}, {4, 8}, {8, 9}});
  CHECK(maximal_nodes(5, {0, 3}) == std::vector<Span>{{0, 3}});
  CHECK(maximal_nodes(16, {4, 4}).empty());
}

TEST_CASE(
    "every owner has one relay on each node, itself on its own, and relays have equal shares") {
  for (const std::vector<int>& layout : {std::vector<int>{0, 0, 1, 1},
                                         std::vector<int>{7, 3, 7, 3, 3},
                                         std::vector<int>{0, 1, 2, 3},
                                         std::vector<int>{0, 0, 0, 0, 1, 2, 2, 2, 2, 2}}) {
    const Hierarchy hierarchy(layout);
    CHECK(hierarchy.is_flat() == (hierarchy.nodes() == 4));
    for (int node = 0; node < hierarchy.nodes(); ++node) {
      int owners = 0;
      std::size_t most = 0;
      std::size_t least = layout.size();
      for (const int rank : hierarchy.ranks_of(node)) {
        CHECK(layout[static_cast<std::size_t>(rank)] ==
              layout[static_cast<std::size_t>(hierarchy.ranks_of(node).front())]);
        CHECK(hierarchy.relay(node, rank) == rank);
        const std::vector<int> relayed = hierarchy.relayed_by(rank);
        most = std::max(most, relayed.size());
        least = std::min(least, relayed.size());
        for (const int owner : relayed) CHECK(hierarchy.relay(node, owner) == rank);
        owners += static_cast<int>(relayed.size());
      }
      CHECK(owners == hierarchy.ranks());
      CHECK(most <= least + 1);
    }
  }
  const Hierarchy one({5, 5, 5});
  CHECK(one.is_flat());
  CHECK(one.ranks_of(2) == std::vector<int>{2});
  // Evenly spread servers are assigned to different ranks of other nodes.
  const Hierarchy four({0, 0, 1, 1, 2, 2, 3, 3});
  CHECK(four.relay(3, 0) == 6);
  CHECK(four.relay(3, 2) == 7);
}

TEST_CASE("a node has the sums of its ranks' adjacent shards") {
  const Hierarchy two({0, 0, 1, 1});
  CHECK(two.sums_of_rank(1, 16) == std::vector<Span>{{4, 8}});
  CHECK(two.sums_of_node(0, 16) == std::vector<Span>{{0, 8}});
  CHECK(Hierarchy({0, 0, 0, 1}).sums_of_node(0, 16) == std::vector<Span>{{0, 8}, {8, 12}});
  CHECK(Hierarchy({0, 1, 0, 1}).sums_of_node(1, 16) == std::vector<Span>{{4, 8}, {12, 16}});
  CHECK(Hierarchy({0, 1, 0, 0}).sums_of_node(0, 16) == std::vector<Span>{{0, 4}, {8, 16}});
}

TEST_CASE("a missing shard is noticed") {
  std::vector<float> values(k_floats);
  const Partials partials{{{0, 2}, values.data()}, {{3, 4}, values.data()}};
  CHECK(combine({0, 4}, partials, 0, k_floats) == nullptr);
}
