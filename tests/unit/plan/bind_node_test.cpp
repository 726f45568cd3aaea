// SPDX-License-Identifier: Apache-2.0
// A node's binding as a whole: GPUs, cores, adapters, policies, words.
#include "core/base/files/files.hpp"
#include "core/base/text/number_list.hpp"
#include "core/base/text/text.hpp"
#include "core/plan/binding/binding.hpp"
#include "core/plan/cores/share_nics.hpp"
#include "core/topo/distance.hpp"
#include "core/topo/hwloc/load.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace dts::plan {
namespace {

std::vector<unsigned> first(std::size_t count) {
  std::vector<unsigned> list(count);
  std::iota(list.begin(), list.end(), 0U);
  return list;
}

topo::NodeTopology machine(const char* text, const std::vector<unsigned>& gpu_numas) {
  topo::NodeTopology node = *topo::load_synthetic(text);
  for (const unsigned numa : gpu_numas)
    node.gpus.push_back({"0000:" + std::to_string(10 + node.gpus.size()) + ":00.0",
                         node.numas[numa].package,
                         numa,
                         {},
                         {100 + numa, 200 + static_cast<unsigned>(node.gpus.size())}});
  return node;
}

NodeBinding bind(const topo::NodeTopology& node, unsigned ranks, const char* policy = "auto") {
  BindRequest request = request_of(*spec::parse_bind(policy));
  request.ranks = ranks;
  request.gpus = first(node.gpus.size());
  const auto binding = bind_node(node, request);
  REQUIRE(binding);
  return *binding;
}

std::string gpus_of(const NodeBinding& binding) {
  std::vector<std::string> words;
  for (const RankBinding& rank : binding.ranks) words.push_back(fold_numbers(rank.gpus));
  return join(words, " ");
}

std::string cpus_of(const NodeBinding& binding) {
  std::vector<std::string> words;
  for (const RankBinding& rank : binding.ranks) words.push_back(fold_numbers(rank.cpus));
  return join(words, " ");
}

}  // namespace

TEST_CASE("every rank has as many GPUs as the others, those that are near each other") {
  const auto node = machine("package:2 numa:2 core:4 pu:1", {0, 1, 0, 1, 2, 3, 2, 3});
  CHECK(gpus_of(bind(node, 8)) == "0 1 2 3 4 5 6 7");
  CHECK(gpus_of(bind(node, 4)) == "0,2 1,3 4,6 5,7");
  CHECK(gpus_of(bind(node, 2)) == "0-3 4-7");
  CHECK(gpus_of(bind(node, 1)) == "0-7");
  CHECK(bind(node, 4).score.home_distance == 0);
  const NodeBinding three = bind(node, 3);
  for (const RankBinding& rank : three.ranks) CHECK(rank.gpus.size() == 2);
  CHECK(three.warnings.size() == 1);
  CHECK(three.warnings[0].find("no rank has") != std::string::npos);
}

TEST_CASE("more ranks than GPUs share them evenly, in runs") {
  const auto node = machine("package:1 numa:2 core:8 pu:1", {0, 1});
  CHECK(gpus_of(bind(node, 4)) == "0 0 1 1");
  const std::string five = gpus_of(bind(node, 5));
  CHECK((five == "0 0 1 1 1" || five == "0 0 0 1 1"));
}

TEST_CASE("ranks that share a GPU are reported, unless that is intended") {
  auto node = machine("package:2 numa:1 core:8 pu:1", {0, 0, 1, 1});
  for (const char* policy : {"auto", "compact"}) {
    const auto warnings = bind(node, 6, policy).warnings;
    REQUIRE(warnings.size() == 1);
    CHECK(warnings[0] ==
          "4 GPUs for 6 ranks: GPUs 0,2 are used by 2 ranks each, which NCCL refuses. Use at most "
          "4 ranks per node");
  }
  CHECK(bind(node, 10).warnings.at(0).find("GPUs 0-3 are used by 2 to 3 ranks each") !=
        std::string::npos);
  CHECK(bind(node, 5).warnings.at(0).find(": GPU 0 is used by 2 ranks, which") !=
        std::string::npos);
  CHECK(bind(node, 4).warnings.empty());
  BindRequest dealt;
  dealt.ranks = 2;
  dealt.gpus = {0};
  dealt.gpus_of = {{0}, {0}};  // by the launcher
  CHECK(bind_node(node, dealt)->warnings.empty());
  for (topo::Gpu& gpu : node.gpus) gpu.instances = {"MIG-a", "MIG-b"};
  CHECK(bind(node, 6).warnings.empty());
  CHECK(bind(node, 9).warnings.size() == 1);
}

TEST_CASE("of GPUs that are equally near, the linked ones go together") {
  auto node = machine("package:1 numa:1 core:8 pu:1", {0, 0, 0, 0});
  CHECK(gpus_of(bind(node, 2)) == "0,1 2,3");
  node.links = {{0, 2, 400}, {1, 3, 400}};
  const NodeBinding linked = bind(node, 2);
  CHECK(gpus_of(linked) == "0,2 1,3");
  CHECK(linked.score.linked == 800);
  CHECK(linked.bound.linked == 800);
}

TEST_CASE("adapters are near, then evenly loaded, and one of management is left out") {
  auto node = machine("package:2 numa:1 core:8 pu:1", {0, 0, 1, 1});
  node.nics = {{"0000:05:00.0", 0, 0, {}, {100, 7}, "mlx5_0"},
               {"0000:06:00.0", 0, 0, {}, {100, 8}, "mlx5_1"},
               {"0000:07:00.0", 1, 1, {}, {101, 9}, "mlx5_2"},
               {"0000:08:00.0", 1, 1, {}, {101, 10}, "irdma0"}};
  node.nics[3].network = topo::Network::ethernet;
  CHECK(compute_nics(node) == std::vector<unsigned>{0, 1, 2});
  const NodeBinding binding = bind(node, 4);
  std::vector<unsigned> nics;
  for (const RankBinding& rank : binding.ranks) nics.push_back(rank.nics.at(0));
  CHECK(nics == std::vector<unsigned>{0, 1, 2, 2});
  CHECK(binding.score.nic_distance == 2);
  CHECK(binding.score.nic_load == 2);
  const unsigned speeds[] = {200, 100, 200, 25};
  for (unsigned nic = 0; nic < 4; ++nic) node.nics[nic].gbps = speeds[nic];
  CHECK(compute_nics(node) == std::vector<unsigned>{0, 2});
  for (unsigned nic = 0; nic < 3; ++nic) node.nics[nic].link = topo::Link::down;
  CHECK(compute_nics(node) == std::vector<unsigned>{3});
  node.nics[3].link = topo::Link::down;
  CHECK(compute_nics(node).empty());
  CHECK(bind(node, 4).ranks[0].nics.empty());
}

TEST_CASE("policies that do not look at GPUs") {
  const auto node = machine("package:2 numa:2 core:2 pu:2", {3, 3});
  CHECK(cpus_of(bind(node, 2, "compact")) == "0-7 8-15");
  CHECK(cpus_of(bind(node, 4, "spread")) == "0-3 4-7 8-11 12-15");
  CHECK(cpus_of(bind(node, 8, "spread")) == "0,1 4,5 8,9 12,13 2,3 6,7 10,11 14,15");
  CHECK(cpus_of(bind(node, 2, "spread")) == "0-7 8-15");
  CHECK(cpus_of(bind(node, 2, "none")) == "0-15 0-15");
  CHECK(cpus_of(bind(node, 3, "map:0-3;5,4")) == "0-3 4,5 0-3");
  CHECK(gpus_of(bind(node, 2, "compact")) == "0 1");
  const auto swapped = machine("package:2 numa:1 core:4 pu:1", {1, 0});
  CHECK(bind(swapped, 2, "compact").score.home_distance == topo::k_other_package);
  CHECK(bind(swapped, 2, "compact").bound.home_distance == 0);
}

TEST_CASE("spread shares no core while another is free, and shared cores are reported") {
  auto node = machine("package:1 numa:3 core:4 pu:1", {});
  std::erase_if(node.cores,
                [](const topo::Core& core) { return core.numa == 1 && core.pus[0] > 4; });
  CHECK(cpus_of(bind(node, 9, "spread")) == "0 4 8 1 9 2 10 3 11");
  CHECK(bind(node, 9, "spread").warnings.empty());
  CHECK(cpus_of(bind(node, 5, "spread")) == "0,1 4 8,9 2,3 10,11");
  const NodeBinding ten = bind(node, 10, "spread");
  CHECK(ten.score.shared_cores == 1);
  REQUIRE(ten.warnings.size() == 1);
  CHECK(ten.warnings[0].starts_with("9 cores for 10 ranks: some share a core"));
  CHECK(bind(node, 10, "compact").warnings.size() == 1);
  const NodeBinding mapped = bind(node, 2, "map:0-3;3,4");
  REQUIRE(mapped.warnings.size() == 1);
  CHECK(mapped.warnings[0].starts_with("1 core is shared by several ranks while 4 are unused"));
  CHECK(bind(node, 2, "none").warnings.empty());
}

TEST_CASE("hardware threads: as many as asked, and apart where ranks share a core") {
  const auto node = machine("package:1 core:2 pu:4", {});
  BindRequest request;
  request.ranks = 2;
  request.smt = 2;
  CHECK(cpus_of(*bind_node(node, request)) == "0,1 4,5");
  CHECK(cpus_of(bind(node, 4)) == "0,1 2,3 4,5 6,7");
  CHECK(cpus_of(bind(node, 3)) == "0,1 2,3 4-7");
  CHECK(bind(node, 3).score.shared_cores == 1);
  CHECK(cpus_of(bind(node, 16)).starts_with("0-3 0-3"));
  CHECK(bind(node, 16).warnings.size() == 1);
}

TEST_CASE("two ranks share a hardware thread only if there are fewer threads than ranks") {
  topo::NodeTopology node = machine("package:2 numa:1 core:3 pu:2", {0, 1});
  for (const unsigned core : {0U, 2U, 4U}) node.cores[core].pus.pop_back();  // 9 threads are left
  for (unsigned ranks = 7; ranks <= 9; ++ranks) {
    std::set<unsigned> used;
    for (const RankBinding& rank : bind(node, ranks).ranks)
      for (const unsigned cpu : rank.cpus) CHECK(used.insert(cpu).second);
    CHECK(bind(node, ranks).score.shared_cores == ranks - 6);
    CHECK(bind(node, ranks).bound.shared_cores == ranks - 6);
  }
  CHECK(cpus_of(bind(node, 9)) == "0 2 3 4 6 7 8 10 11");
  CHECK(cpus_of(bind(node, 15)) == "0 0 2,3 2,3 2,3 4 4 6,7 6,7 6,7 8 8 10,11 10,11 10,11");
  BindRequest request;
  request.ranks = 8;
  request.gpus = {0, 1};
  request.smt = 1;  // without second threads, all cores are alike
  CHECK(cpus_of(*bind_node(node, request)) == "0 0 2 4 6 6 8 10");
}

TEST_CASE("how many L3s cannot but have several ranks") {
  struct Case {
    const char* machine;
    unsigned ranks, shared;
  };

  const Case table[] = {
      {"package:2 l3:1 core:9 pu:1", 6, 2},
      {"package:2 l3:1 core:9 pu:1", 3, 2},
      {"package:2 l3:1 core:9 pu:1", 2, 0},
      {"package:1 l3:4 core:4 pu:1", 8, 4},
      {"package:1 l3:4 core:4 pu:1", 5, 3},  // in two, three ranks have no room
      {"package:1 l3:4 core:1 pu:2", 6, 0},  // two cores are shared, no L3 is larger
      {"package:2 l3:1 core:2 pu:2", 6, 2},
      {"package:2 core:4 pu:1", 8, 0}};
  for (const Case& c : table) {
    CAPTURE(c.machine);
    CAPTURE(c.ranks);
    const NodeBinding binding = bind(machine(c.machine, {}), c.ranks);
    CHECK(binding.bound.shared_l3 == c.shared);
    CHECK(binding.score.shared_l3 >= c.shared);
  }
  auto node = machine("package:2 l3:1 core:4 pu:1", {});
  for (unsigned core = 4; core < 8; ++core) node.cores[core].l3.reset();
  CHECK(bind(node, 5).bound.shared_l3 == 0);  // one rank in the L3, four outside
  CHECK(bind(node, 8).bound.shared_l3 == 1);
}

TEST_CASE("a limit on cores leaves the far ones") {
  const auto node = machine("package:2 numa:1 core:8 pu:1", {0, 1});
  BindRequest request;
  request.ranks = 2;
  request.gpus = {0, 1};
  request.cores_per_rank = 3;
  const auto binding = bind_node(node, request);
  REQUIRE(binding);
  CHECK(cpus_of(*binding) == "0-2 8-10");
  CHECK(binding->score.unused_cores == 10);
  CHECK(binding->bound.unused_cores == 10);
}

TEST_CASE("slow cores are annex where there are fast ones") {
  topo::NodeTopology node = machine("package:1 core:14 pu:1", {});
  for (unsigned i = 0; i < 6; ++i) node.cores[i].kind = 1;
  const NodeBinding two = bind(node, 2);
  for (const RankBinding& rank : two.ranks) {
    CHECK(std::count_if(
              rank.home.begin(), rank.home.end(), [](unsigned core) { return core < 6; }) == 3);
    CHECK(rank.home.size() + rank.annex.size() == 7);
    CHECK(rank.annex.size() >= 3);
  }
}

TEST_CASE("one fast core is not the whole home of a rank with many slow ones") {
  topo::NodeTopology node = machine("package:1 core:9 pu:1", {});
  node.cores[4].kind = 1;
  CHECK(bind(node, 1).ranks[0].home == std::vector<unsigned>{0, 1, 2, 4});
  node.cores[5].kind = node.cores[6].kind = 1;  // three do as much as four of which one is slow
  CHECK(bind(node, 1).ranks[0].home == std::vector<unsigned>{4, 5, 6});
  node.cores[7].kind = 2;  // the next best before the slowest
  CHECK(bind(node, 1).ranks[0].home == std::vector<unsigned>{4, 5, 6, 7});
}

TEST_CASE("what cannot be is refused, all of it at once") {
  const auto node = machine("package:1 core:4 pu:1", {0});
  BindRequest request = request_of(*spec::parse_bind("map:0-3;9"));
  request.ranks = 2;
  request.gpus = {3};
  request.cores_per_rank = 3;
  const auto refused = bind_node(node, request);
  REQUIRE_FALSE(refused);
  for (const char* words : {"processor 9", "no GPU 3", "cores per rank"})
    CHECK(refused.error().message.find(words) != std::string::npos);
  CHECK_FALSE(bind_node({}, {}));
  for (const char* bad : {"", "fast", "map", "map:", "map:a", "map:0;;1", "compact:1"}) {
    CAPTURE(bad);
    CHECK_FALSE(spec::parse_bind(bad));
  }
}

TEST_CASE("a GPU whose neighbourhood may not be used is named, with what to do") {
  auto node = machine("package:2 numa:1 core:4 pu:1", {0, 1});
  std::erase_if(node.cores, [](const topo::Core& core) { return core.package == 0; });
  const NodeBinding binding = bind(node, 2);
  REQUIRE(binding.warnings.size() == 1);
  CHECK(binding.warnings[0].find("no core near GPU 0 (0000:10:00.0)") == 0);
  CHECK(binding.reasons[0] == "2 ranks on 4 cores in 1 NUMA node: 2 each, all used");
}

TEST_CASE("a part of a node's GPUs is placed by where these are") {
  const auto node = machine("package:2 numa:2 core:4 pu:1", {0, 1, 2, 3});
  BindRequest request;
  request.ranks = 2;
  request.gpus = {2, 3};
  const auto binding = bind_node(node, request);
  CHECK(gpus_of(*binding) == "2 3");
  CHECK(binding->score.home_distance == 0);
  CHECK(binding->ranks[0].numas == std::vector<unsigned>{2});
}

}  // namespace dts::plan
