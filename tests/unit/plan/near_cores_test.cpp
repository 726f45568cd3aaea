// SPDX-License-Identifier: Apache-2.0
// Near cores are divided fairly, before anything else: the slowest rank sets the pace.
#include "core/plan/cores/near_cores.hpp"

#include "core/plan/binding/binding.hpp"
#include "core/topo/hwloc/load.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <optional>

namespace dts::plan {
namespace {

using Counts = std::vector<unsigned>;

topo::NodeTopology node_of(const char* text, const std::vector<unsigned>& gpu_numas) {
  topo::NodeTopology node = *topo::load_synthetic(text);
  for (const unsigned numa : gpu_numas)
    node.gpus.push_back({"", node.numas[numa].package, numa, {}, {numa}});
  return node;
}

NodeBinding bind_all(const topo::NodeTopology& node, unsigned ranks) {
  BindRequest request;
  request.ranks = ranks;
  request.gpus.resize(node.gpus.size());
  std::iota(request.gpus.begin(), request.gpus.end(), 0U);
  const auto binding = bind_node(node, request);
  REQUIRE(binding);
  return *binding;
}

Counts near_by_rank(const topo::NodeTopology& node, unsigned ranks) {
  Counts counts;
  for (const RankBinding& rank : bind_all(node, ranks).ranks)
    counts.push_back(score(node, {rank}).near_cores[0]);
  return counts;
}

}  // namespace

TEST_CASE("near: the fastest cores in the NUMA nodes of a rank's GPUs, or in what they hang from") {
  auto node = node_of("package:2 numa:2 core:2 pu:1", {0, 2});
  node.gpus.push_back({"", 1U, std::nullopt, {}, {}});
  node.cores[1].kind = node.cores[2].kind = node.cores[6].kind = 1;
  const NearCores near(node);
  const auto of = [&](const std::vector<unsigned>& gpus) {
    Counts cores;
    for (unsigned core = 0; core < node.cores.size(); ++core)
      if (near.contain(gpus, core)) cores.push_back(core);
    return cores;
  };
  CHECK(of({}) == Counts{1, 2, 6});
  CHECK(of({0}) == Counts{1});
  CHECK(of({1}).empty());
  CHECK(of({2}) == Counts{6});
  CHECK(of({0, 2}) == Counts{1, 6});
}

TEST_CASE("three GPUs in one NUMA node and one in the next have the same near cores each") {
  const auto h200 = node_of("package:2 numa:2 l3:1 core:24 pu:2", {0, 0, 0, 1, 2, 2, 2, 3});
  CHECK(near_by_rank(h200, 8) == Counts{8, 8, 8, 12, 8, 8, 8, 12});
  const NodeBinding binding = bind_all(h200, 8);
  CHECK(binding.score.near_cores == Counts{8, 8, 8, 8, 8, 8, 12, 12});
  CHECK(binding.bound.near_cores == binding.score.near_cores);
  const auto said = [&](const char* words) {
    return std::count(binding.reasons.begin(), binding.reasons.end(), words);
  };
  CHECK(said("each rank has 8 to 12 cores near its GPUs, and no division raises the minimum") == 1);
  CHECK(said("24 cores further away as annex, for data loaders") == 1);
}

TEST_CASE("no L3 is kept whole at the cost of a rank's near cores") {
  const auto rccl = node_of("package:2 numa:2 l3:3 core:8 pu:1", {1, 1, 1, 1, 3, 3, 3, 3});
  CHECK(near_by_rank(rccl, 8) == Counts(8, 6));
  CHECK(near_by_rank(rccl, 4) == Counts(4, 12));
  CHECK(near_by_rank(rccl, 16) == Counts(16, 3));
}

TEST_CASE("NUMA nodes of different sizes") {
  auto node = node_of("package:2 numa:3 core:43 pu:1", {0, 0, 1, 2, 3, 4, 4, 5});
  std::erase_if(node.cores, [](const topo::Core& core) {
    return core.numa % 3 == 2 && core.pus[0] % 43 == 42;
  });
  auto near = near_by_rank(node, 8);
  std::sort(near.begin(), near.end());
  CHECK(near == Counts{21, 21, 22, 22, 32, 32, 32, 32});
}

TEST_CASE(
    "GPUs of one NUMA node go to different ranks where theirs would have too few near cores") {
  auto node = node_of("package:2 numa:3 core:43 pu:1", {0, 0, 1, 2, 3, 4, 4, 5});
  std::erase_if(node.cores, [](const topo::Core& core) {
    return core.numa % 3 == 2 && core.pus[0] % 43 == 42;
  });
  const NodeBinding binding = bind_all(node, 4);
  CHECK(binding.score.near_cores == Counts(4, 64));
  CHECK(binding.score.gpu_packages == 0);
  // 43 and 85 near cores are enough for ranks that may have no more than 16.
  BindRequest request;
  request.ranks = 4;
  request.cores_per_rank = 16;
  request.gpus = {0, 1, 2, 3, 4, 5, 6, 7};
  const auto narrow = bind_node(node, request);
  CHECK(narrow->score.near_cores == Counts(4, 16));
  CHECK(narrow->score.gpu_numas == 2);
}

TEST_CASE("GPUs behind one switch, or linked, stay together at the cost of near cores") {
  auto node = node_of("package:1 numa:3 core:8 pu:1", {0, 0, 1, 2});
  CHECK(bind_all(node, 2).score.near_cores == Counts(2, 12));
  auto switched = node;
  for (unsigned gpu = 0; gpu < 2; ++gpu) switched.gpus[gpu].bridges = {0, 100, 200 + gpu};
  CHECK(bind_all(switched, 2).score.near_cores == Counts{8, 12});
  CHECK(bind_all(switched, 2).ranks[0].gpus == Counts{0, 1});
  node.links = {{0, 1, 50}, {2, 3, 50}};
  CHECK(bind_all(node, 2).score.near_cores == Counts{8, 12});
}

TEST_CASE("the GPU that is left over is one that leaves more near cores to the others") {
  const auto node = node_of("package:1 numa:4 core:8 pu:1", {0, 0, 0, 0, 1, 2, 3});
  CHECK(bind_all(node, 3).score.near_cores == Counts{10, 11, 11});
  // One rank a GPU, and two to leave out.
  CHECK(bind_all(node, 5).score.near_cores == Counts{4, 4, 6, 7, 7});
  CHECK(bind_all(node, 6).score.near_cores[0] == 2);
}

TEST_CASE("GPUs of different reach compete for the same cores: who has a choice gives way") {
  // GPU 0 hangs from package 0, GPUs 1 and 2 from its first NUMA node: of 4 cores each they need
  // all of that, and GPU 0 has the second.
  auto node = node_of("package:2 numa:2 core:4 pu:1", {0, 0, 0, 3});
  node.gpus[0].numa.reset();
  CHECK(near_by_rank(node, 4) == Counts{4, 2, 2, 4});
  // Where the second may not be used, the three share the first.
  std::erase_if(node.cores, [](const topo::Core& core) { return core.numa == 1; });
  auto near = near_by_rank(node, 4);
  std::sort(near.begin(), near.end());
  CHECK(near == Counts{1, 1, 2, 3});
}

TEST_CASE("with more ranks than GPUs the one more is where the fewest near cores remain the most") {
  auto node = node_of("package:2 numa:1 core:12 pu:1", {0, 1});
  std::erase_if(node.cores, [](const topo::Core& core) { return core.pus[0] >= 18; });
  // 18 cores for 5 ranks: 12 and 6; three ranks at the GPU with 12, two at that with 6.
  auto near = near_by_rank(node, 5);
  std::sort(near.begin(), near.end());
  CHECK(near == Counts{3, 3, 4, 4, 4});
}

}  // namespace dts::plan
