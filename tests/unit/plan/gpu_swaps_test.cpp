// SPDX-License-Identifier: Apache-2.0
// Nodes with more ways to group their GPUs than are tried: what swaps then find.
#include "core/plan/gpus/gpu_swaps.hpp"

#include "tests/support/sanitized.hpp"
#include "tests/unit/plan/grouping_bound.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

namespace dts::plan {
namespace {

constexpr unsigned k_nodes = tests::k_sanitized ? 3 : 30;

constexpr unsigned k_gpus = 16, k_numas = 8, k_cores_of_numa = 8;

// Two packages of four NUMA nodes, each with any number of GPUs behind two switches; on every other
// node, NVLink bridges between two GPUs each.
topo::NodeTopology node_of(unsigned seed) {
  std::mt19937 random(seed);
  topo::NodeTopology node;
  for (unsigned core = 0; core < k_numas * k_cores_of_numa; ++core) {
    const unsigned numa = core / k_cores_of_numa;
    node.cores.push_back({numa / 4, numa, {}, {core}});
  }
  std::vector<unsigned> numas(k_gpus);
  for (unsigned& numa : numas) numa = static_cast<unsigned>(random() % k_numas);
  std::sort(numas.begin(), numas.end());
  for (const unsigned numa : numas) {
    const unsigned bridge = 100 + 2 * numa + static_cast<unsigned>(random() % 2);
    node.gpus.push_back({"", numa / 4, numa, {}, {numa, bridge}});
  }
  for (unsigned gpu = 0; gpu < k_gpus && seed % 2 == 1; gpu += 2)
    node.links.push_back({gpu, gpu + 1, 50});
  return node;
}

std::vector<unsigned> all_gpus() {
  std::vector<unsigned> gpus(k_gpus);
  std::iota(gpus.begin(), gpus.end(), 0U);
  return gpus;
}

}  // namespace

TEST_CASE("sixteen GPUs: the nearest groups, and the most near cores for the poorest rank") {
  unsigned checked = 0, worse = 0;
  for (unsigned seed = 0; seed < k_nodes; ++seed) {
    const topo::NodeTopology node = node_of(seed);
    for (const unsigned ranks : {2U, 3U, 4U, 5U}) {
      CAPTURE(seed);
      CAPTURE(ranks);
      BindRequest request;
      request.ranks = ranks;
      request.gpus = all_gpus();
      const auto binding = bind_node(node, request);
      REQUIRE(binding);
      Groups groups;
      for (const RankBinding& rank : binding->ranks) groups.push_back(rank.gpus);
      Groupings all(node, ranks, node.cores.size() / ranks);
      const std::size_t fewest = binding->score.near_cores.front();
      const auto most = all.most_near(fewest);
      REQUIRE(most);
      worse += apart(node, groups) != all.least_apart() || *most != fewest ? 1 : 0;
      ++checked;
    }
  }
  MESSAGE(worse << " of " << checked << " are not the best");
  CHECK(100 * worse <= checked);
}

TEST_CASE("sixty-four GPUs, as of eight MI300X in eight parts: two ranks have a package each") {
  topo::NodeTopology node;
  for (unsigned core = 0; core < 192; ++core)
    node.cores.push_back({core / 96, core / 24, {}, {core}});
  for (unsigned gpu = 0; gpu < 64; ++gpu) {
    const unsigned numa = gpu / 8 ^ 3U;
    node.gpus.push_back({"", numa / 4, numa, {}, {numa, 100 + gpu / 8}});
  }
  BindRequest request;
  request.gpus.resize(64);
  std::iota(request.gpus.begin(), request.gpus.end(), 0U);
  request.ranks = 2;
  const auto binding = bind_node(node, request);
  REQUIRE(binding);
  for (const RankBinding& rank : binding->ranks) {
    std::set<unsigned> packages;
    for (const unsigned gpu : rank.gpus) packages.insert(node.gpus[gpu].package.value());
    CHECK(packages.size() == 1);
  }
  request.ranks = 3;
  CHECK(bind_node(node, request));
}

TEST_CASE("swaps: one for one, two for two, and with GPUs that nobody has") {
  topo::NodeTopology node = node_of(0);
  for (unsigned gpu = 0; gpu < k_gpus; ++gpu) {
    node.gpus[gpu].numa = node.gpus[gpu].package = gpu % 2;
    node.gpus[gpu].bridges = {gpu % 2, 100 + gpu};
  }
  const auto swapped = [&](const std::vector<unsigned>& gpus, const Groups& groups) {
    const FewestNear near(node, gpus, {8, 4});
    return swap_gpus(GpuPairs(node), near, gpus, groups);
  };
  CHECK(swapped({0, 1, 2, 3}, {{0, 1}, {2, 3}}) == Groups{{0, 2}, {1, 3}});
  CHECK(swapped({0, 1, 2, 3}, {{0, 1}}) == Groups{{1, 3}});
  CHECK(swapped({0, 1}, {{0}, {1}}) == Groups{{0}, {1}});
  // Each bridge within a package: the linked ones come together only two at a time.
  node.links = {{0, 2, 9}, {4, 6, 9}, {8, 10, 9}, {12, 14, 9}};
  node.gpus[8].bridges = node.gpus[0].bridges;
  const Groups pairs = swapped({0, 2, 4, 6}, {{0, 4}, {2, 6}});
  CHECK(pairs == Groups{{0, 2}, {4, 6}});
}

}  // namespace dts::plan
