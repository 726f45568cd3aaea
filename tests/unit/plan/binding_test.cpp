// SPDX-License-Identifier: Apache-2.0
// Which cores each rank gets: the best there are, on any machine and in any cpuset.
#include "core/plan/binding/binding.hpp"

#include "core/plan/cores/share_cores.hpp"
#include "tests/support/sanitized.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <random>
#include <set>

namespace dts::plan {
namespace {

using Gpus = std::vector<std::vector<unsigned>>;

struct Shape {
  unsigned packages, numas, l3s, cores;  // each in one of those before it
};

topo::NodeTopology machine(const Shape& shape) {
  topo::NodeTopology node;
  for (unsigned p = 0; p < shape.packages; ++p)
    for (unsigned n = 0; n < shape.numas; ++n)
      for (unsigned l = 0; l < shape.l3s; ++l)
        for (unsigned c = 0; c < shape.cores; ++c) {
          const unsigned numa = p * shape.numas + n;
          node.cores.push_back(
              {p, numa, numa * shape.l3s + l, {static_cast<unsigned>(node.cores.size())}});
        }
  return node;
}

// A GPU in each of `numas`.
topo::NodeTopology with_gpus(const Shape& shape, const std::vector<unsigned>& numas) {
  topo::NodeTopology node = machine(shape);
  for (const unsigned numa : numas) node.gpus.push_back({"", numa / shape.numas, numa, {}});
  return node;
}

// Rank i has GPU i.
Gpus one_each(std::size_t count) {
  Gpus gpus(count);
  for (unsigned i = 0; i < count; ++i) gpus[i] = {i};
  return gpus;
}

unsigned below(std::mt19937& random, std::size_t limit) {
  return static_cast<unsigned>(random() % limit);
}

std::vector<unsigned> all_of(const RankBinding& share) {
  std::vector<unsigned> all = share.home;
  all.insert(all.end(), share.annex.begin(), share.annex.end());
  return all;
}

// No core twice, none left, no rank without, nobody more than one ahead.
void check_fair(const topo::NodeTopology& node, const Gpus& gpus) {
  const auto shares = share_cores(node, gpus);
  REQUIRE(shares.size() == gpus.size());
  std::set<unsigned> used;
  std::size_t fewest = node.cores.size(), most = 0;
  for (const RankBinding& share : shares) {
    const auto all = all_of(share);
    REQUIRE_FALSE(all.empty());
    for (const unsigned core : all) REQUIRE(core < node.cores.size());
    fewest = std::min(fewest, all.size());
    most = std::max(most, all.size());
    used.insert(all.begin(), all.end());
  }
  REQUIRE(most - fewest <= (gpus.size() <= node.cores.size() ? 1 : 0));
  REQUIRE(used.size() == std::min(node.cores.size(), std::max(node.cores.size(), gpus.size())));
  REQUIRE(shares.size() == share_cores(node, gpus).size());
}

// The best over all equal ways to share out the cores.
BindingScore brute_force(const topo::NodeTopology& node, const Gpus& gpus) {
  const std::size_t cores = node.cores.size(), ranks = gpus.size();
  std::vector<RankBinding> shares(ranks);
  for (std::size_t i = 0; i < ranks; ++i) shares[i].gpus = gpus[i];
  std::optional<BindingScore> best;
  const std::function<void(unsigned)> place = [&](unsigned core) {
    if (core == cores) {
      for (const RankBinding& share : shares)
        if (share.home.size() < cores / ranks) return;
      const BindingScore found = score(node, shares);
      if (!best || is_better(found, *best)) best = found;
      return;
    }
    for (RankBinding& share : shares) {
      if (share.home.size() > cores / ranks) continue;
      share.home.push_back(core);
      place(core + 1);
      share.home.pop_back();
    }
  };
  place(0);
  return *best;
}

}  // namespace

TEST_CASE("where each GPU has its own NUMA node, every rank gets just that") {
  const auto node = with_gpus({2, 4, 1, 8}, {3, 2, 1, 0, 7, 6, 5, 4});
  const auto shares = share_cores(node, one_each(8));
  for (unsigned rank = 0; rank < 8; ++rank) {
    CHECK(shares[rank].home.size() == 8);
    CHECK(shares[rank].annex.empty());
    for (const unsigned core : shares[rank].home)
      CHECK(node.cores[core].numa == node.gpus[rank].numa);
  }
  const BindingScore result = score(node, shares);
  CHECK(result.mean_distance == 0);
  CHECK(result.fewest_cores == 8);
  CHECK(result.most_cores == 8);
  CHECK(result.unused_cores + result.shared_cores + result.shared_l3 == 0);
  CHECK(result.numa_span == 8);
  CHECK(result.numa_load == 1);
}

TEST_CASE("GPUs on half of the NUMA nodes: near cores first, and the other half as annex") {
  // As on a DGX A100: 8 GPUs on 4 of 8 NUMA nodes of 16 cores. A tool that only looks at the GPU's
  // own NUMA node leaves half of the cores idle.
  const auto node = with_gpus({2, 4, 4, 4}, {3, 3, 1, 1, 7, 7, 5, 5});
  const auto shares = share_cores(node, one_each(8));
  for (unsigned rank = 0; rank < 8; ++rank) {
    CHECK(shares[rank].home.size() == 8);
    CHECK(shares[rank].annex.size() == 8);
    for (const unsigned core : shares[rank].home)
      CHECK(node.cores[core].numa == node.gpus[rank].numa);
    for (const unsigned core : shares[rank].annex)
      CHECK(node.cores[core].package == node.gpus[rank].package);
  }
  const BindingScore result = score(node, shares);
  CHECK(result.home_distance == 0);
  CHECK(result.mean_distance == 1);
  CHECK(result.worst_distance == 2);
  CHECK(result.fewest_cores == 16);
  CHECK(result.most_cores == 16);
  CHECK(result.unused_cores + result.shared_cores + result.shared_l3 == 0);
  CHECK(result.numa_span == 16);
  CHECK(result.numa_load == 2);
}

TEST_CASE("a machine without GPUs is cut into runs of neighbours") {
  const auto node = machine({2, 1, 2, 4});
  const auto shares = share_cores(node, Gpus(4));
  for (unsigned rank = 0; rank < 4; ++rank)
    CHECK(shares[rank].home ==
          std::vector<unsigned>{4 * rank, 4 * rank + 1, 4 * rank + 2, 4 * rank + 3});
  const auto three = share_cores(node, Gpus(3));  // 16 cores: 6, 5, 5
  CHECK(three[0].home.size() == 6);
  CHECK(three[1].home.front() == 6);
  CHECK(three[2].home.back() == 15);
}

TEST_CASE("a GPU whose NUMA node may not be used is served from its package, then from elsewhere") {
  auto node = with_gpus({2, 2, 1, 4}, {0, 3});
  std::erase_if(node.cores, [](const topo::Core& core) { return core.numa == 0; });
  const auto shares = share_cores(node, one_each(2));
  for (const unsigned core : shares[0].home) CHECK(node.cores[core].package == 0);
  CHECK(shares[0].home.size() + shares[0].annex.size() == 6);
  std::erase_if(node.cores, [](const topo::Core& core) { return core.package == 0; });
  check_fair(node, one_each(2));
}

TEST_CASE("ranks with one GPU share what is near as evenly as what is not") {
  const auto node = with_gpus({2, 1, 1, 6}, {0, 0});
  const auto shares = share_cores(node, one_each(2));
  for (const RankBinding& share : shares)
    CHECK(std::count_if(share.home.begin(), share.home.end(), [&](unsigned core) {
            return node.cores[core].numa == 0;
          }) == 3);
}

TEST_CASE("more ranks than cores share them, in order") {
  const auto shares = share_cores(machine({1, 1, 1, 2}), Gpus(4));
  CHECK(shares[0].home == std::vector<unsigned>{0});
  CHECK(shares[1].home == std::vector<unsigned>{0});
  CHECK(shares[3].home == std::vector<unsigned>{1});
  CHECK(share_cores({}, Gpus(2))[1].home.empty());
}

TEST_CASE("no way to share out the cores is better, on machines small enough to try all") {
  std::mt19937 random(1);
  unsigned tried = 0;
  for (unsigned round = 0; round < 400; ++round) {
    const Shape shape{
        1 + below(random, 2), 1 + below(random, 2), 1 + below(random, 2), 1 + below(random, 2)};
    auto node = machine(shape);
    const unsigned gpus = 1 + below(random, 3);
    for (unsigned i = 0; i < gpus; ++i) {
      const topo::Core& place = node.cores[below(random, node.cores.size())];
      node.gpus.push_back({"", place.package, place.numa, {}});
      if (below(random, 4) == 0) node.gpus.back().numa.reset();
      if (below(random, 8) == 0) node.gpus.back().l3 = place.l3;
    }
    std::erase_if(node.cores, [&](const topo::Core&) { return below(random, 4) == 0; });
    if (node.cores.size() < gpus || node.cores.size() > 8) continue;
    ++tried;
    const Gpus each = one_each(gpus);
    check_fair(node, each);
    const BindingScore ours = score(node, share_cores(node, each));
    const BindingScore best = brute_force(node, each);
    CAPTURE(round);
    CHECK(ours.near_cores == best.near_cores);
    CHECK(ours.home_distance == doctest::Approx(best.home_distance));
    if (node.cores.size() / gpus <= k_home_cores)
      CHECK(ours.mean_distance == doctest::Approx(best.mean_distance));
  }
  MESSAGE(tried << " machines tried in every way");
  CHECK(tried > 200);
}

TEST_CASE("any machine, any cpuset, any number of ranks: fair, whole and the same every time") {
  std::mt19937 random(2);
  for (unsigned round = 0; round < (tests::k_sanitized ? 100 : 500); ++round) {
    const Shape shape{
        1 + below(random, 4), 1 + below(random, 4), 1 + below(random, 4), 1 + below(random, 8)};
    auto node = machine(shape);
    const unsigned gpus = below(random, 9);
    for (unsigned i = 0; i < gpus; ++i) {
      const topo::Core& place = node.cores[below(random, node.cores.size())];
      node.gpus.push_back({"", place.package, place.numa, place.l3});
    }
    const unsigned keep = 1 + below(random, 4);
    std::erase_if(node.cores, [&](const topo::Core&) { return below(random, 4) >= keep; });
    if (node.cores.empty()) continue;
    Gpus lists(1 + below(random, (2 * node.cores.size())));
    for (std::size_t rank = 0; gpus > 0 && rank < lists.size(); ++rank)
      for (unsigned k = below(random, 3); k > 0; --k) lists[rank].push_back(below(random, gpus));
    check_fair(node, lists);
  }
}

}  // namespace dts::plan
