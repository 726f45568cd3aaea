// SPDX-License-Identifier: Apache-2.0
// Which GPUs go together: no rank's are in several packages, NUMA nodes or behind several switches
// without need.
#include "core/plan/gpus/gpu_groups.hpp"

#include "core/plan/binding/binding.hpp"
#include "core/plan/gpus/gpu_search.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>

namespace dts::plan {
namespace {

struct Place {
  unsigned package, numa, root, switches;
};

// A GPU in each of these places.
topo::NodeTopology with_gpus(const std::vector<Place>& places) {
  topo::NodeTopology node;
  for (const Place& place : places)
    node.gpus.push_back(
        {"", place.package, place.numa, {}, {1000 + place.root, 2000 + place.switches}});
  return node;
}

std::vector<unsigned> the_first(std::size_t count) {
  std::vector<unsigned> list(count);
  std::iota(list.begin(), list.end(), 0U);
  return list;
}

using Part = unsigned (*)(const topo::Gpu&);

unsigned package_of(const topo::Gpu& gpu) {
  return *gpu.package;
}

unsigned numa_of(const topo::Gpu& gpu) {
  return *gpu.numa;
}

unsigned switch_of(const topo::Gpu& gpu) {
  return gpu.bridges.back();
}

// How many groups are not in one part.
unsigned crossing(const topo::NodeTopology& node,
                  const std::vector<std::vector<unsigned>>& groups,
                  Part part) {
  unsigned count = 0;
  for (const auto& gpus : groups) {
    std::set<unsigned> parts;
    for (const unsigned gpu : gpus) parts.insert(part(node.gpus[gpu]));
    count += parts.size() > 1 ? 1 : 0;
  }
  return count;
}

// The fewest that must be: a part with p GPUs has p/size whole groups, whichever they are.
unsigned fewest_crossing(const topo::NodeTopology& node, std::size_t ranks, Part part) {
  std::map<unsigned, std::size_t> parts;
  for (const topo::Gpu& gpu : node.gpus) ++parts[part(gpu)];
  const std::size_t size = node.gpus.size() / ranks;
  std::size_t whole = 0;
  for (const auto& [number, gpus] : parts) whole += gpus / size;
  return static_cast<unsigned>(ranks - std::min(ranks, whole));
}

}  // namespace

TEST_CASE("ten GPUs behind two switches: one of five pairs is of both") {
  std::vector<Place> places;
  for (unsigned gpu = 0; gpu < 10; ++gpu) places.push_back({0, 0, gpu / 5, gpu / 5});
  topo::NodeTopology node = with_gpus(places);
  for (unsigned core = 0; core < 24; ++core)
    node.cores.push_back({core / 12, core / 12, {}, {core}});
  node.nics.push_back({"", 0, 0, {}, {1001, 2001}, "mlx5_0"});  // behind the second
  for (const auto& row : std::map<unsigned, unsigned>{{2, 0}, {3, 1}, {5, 1}}) {
    const auto& [ranks, most] = row;
    CAPTURE(row.first);
    BindRequest request;
    request.ranks = ranks;
    request.gpus = the_first(10);
    std::vector<std::vector<unsigned>> groups;
    const auto binding = bind_node(node, request);
    REQUIRE(binding);
    for (const RankBinding& rank : binding->ranks) groups.push_back(rank.gpus);
    CHECK(crossing(node, groups, switch_of) == most);
  }
}

TEST_CASE("a cpuset of few cores in one package does not mix GPUs of both") {
  std::vector<Place> places;
  for (unsigned gpu = 0; gpu < 8; ++gpu) places.push_back({gpu / 4, gpu / 4, gpu, gpu});
  topo::NodeTopology node = with_gpus(places);
  for (unsigned core = 0; core < 21; ++core)
    node.cores.push_back({core < 17 ? 0U : 1U, core < 17 ? 0U : 1U, {}, {core}});
  BindRequest request;
  request.ranks = 4;
  request.gpus = the_first(8);
  const auto binding = bind_node(node, request);
  CHECK(binding->score.gpu_packages == 0);
  CHECK(binding->score.near_cores == std::vector<unsigned>{2, 2, 5, 6});
}

TEST_CASE("packages of three GPUs and of one: a rank of four GPUs has two packages") {
  std::vector<Place> places;
  for (const unsigned package : {0, 1, 2, 3, 4, 5, 6, 7, 0, 0, 1, 1, 2, 2, 3, 3}) {
    const auto gpu = static_cast<unsigned>(places.size());
    places.push_back({package, package, gpu, gpu});
  }
  topo::NodeTopology node = with_gpus(places);
  for (unsigned core = 0; core < 32; ++core) node.cores.push_back({core / 4, core / 4, {}, {core}});
  BindRequest request;
  request.ranks = 4;
  request.gpus = the_first(16);
  request.cores_per_rank = 2;
  const auto binding = bind_node(node, request);
  REQUIRE(binding);
  CHECK(binding->score.gpu_packages == 4);
}

TEST_CASE("any machine: no more groups cross a part, at any level, than must") {
  std::mt19937 random(1);
  for (unsigned round = 0; round < 2000; ++round) {
    CAPTURE(round);
    // Switches in roots in NUMA nodes in packages; GPUs in any order.
    const auto switches = 1 + random() % 6;
    std::vector<Place> places(1 + random() % 16);
    for (Place& place : places) {
      const auto number = static_cast<unsigned>(random() % switches);
      place = {number / 4, number / 2, number, number};
    }
    const topo::NodeTopology node = with_gpus(places);
    const auto ranks = 1 + random() % places.size();
    const auto all_gpus = the_first(places.size());
    const auto [ways, all] = nearest_groups(node,
                                            all_gpus,
                                            static_cast<unsigned>(ranks),
                                            places.size() / ranks,
                                            FewestNear(node, all_gpus, {}));
    REQUIRE_FALSE(ways.empty());
    for (const auto& groups : ways) {
      REQUIRE(groups.size() == ranks);
      std::set<unsigned> used;
      for (const auto& gpus : groups) {
        REQUIRE(gpus.size() == places.size() / ranks);
        used.insert(gpus.begin(), gpus.end());
      }
      REQUIRE(used.size() == ranks * (places.size() / ranks));
    }
    if (places.size() / ranks > 2) continue;  // larger groups may cross twice
    for (const Part part : {package_of, numa_of, switch_of})
      REQUIRE(crossing(node, ways[0], part) == fewest_crossing(node, ranks, part));
  }
}

}  // namespace dts::plan
