// SPDX-License-Identifier: Apache-2.0
// Which adapters ranks get of a node that has several kinds.
#include "core/plan/binding/binding.hpp"
#include "core/plan/cores/fabric.hpp"
#include "core/plan/cores/share_nics.hpp"
#include "tests/support/described.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

namespace dts::plan {
namespace {

using topo::Link;
using topo::Network;

// `count` adapters that are alike, each on a card of its own.
struct Some {
  unsigned count;
  Network network;
  unsigned gbps, pci_gbps;
  Link link = Link::up;
};

topo::NodeTopology node_of(const std::vector<Some>& kinds) {
  topo::NodeTopology node;
  for (const Some& kind : kinds)
    for (unsigned i = 0; i < kind.count; ++i) {
      topo::Nic& nic = node.nics.emplace_back();
      nic.pci = fmt::format("0000:{:02x}:00.0", node.nics.size());
      nic.name = fmt::format("n{}", node.nics.size() - 1);
      nic.network = kind.network;
      nic.link = kind.link;
      nic.gbps = kind.gbps;
      nic.pci_gbps = kind.pci_gbps;
    }
  return node;
}

constexpr Network k_ib = Network::infiniband, k_eth = Network::ethernet;

}  // namespace

TEST_CASE("the network that carries most is used, whatever it is called") {
  struct {
    const char* what;
    std::vector<Some> kinds;
    std::vector<unsigned> used;
  } const table[] = {
      {"storage behind two lanes", {{4, k_ib, 400, 31}, {3, k_eth, 800, 252}}, {4, 5, 6}},
      {"management beside RoCE", {{1, k_eth, 25, 63}, {2, k_eth, 400, 504}}, {1, 2}},
      {"management beside InfiniBand", {{2, k_eth, 25, 63}, {1, k_ib, 100, 126}}, {2}},
      {"as much: InfiniBand", {{2, k_eth, 200, 252}, {2, k_ib, 200, 252}}, {2, 3}},
      {"Ethernet has to carry twice as much", {{2, k_eth, 100, 126}, {1, k_ib, 100, 126}}, {2}},
      {"one fast port of storage", {{1, k_eth, 400, 504}, {4, k_ib, 200, 252}}, {1, 2, 3, 4}},
      {"one faster of the same network", {{1, k_ib, 400, 504}, {3, k_ib, 200, 252}}, {0, 1, 2, 3}},
      {"Slingshot beside Ethernet",
       {{2, Network::slingshot, 200, 252}, {1, k_eth, 100, 126}},
       {0, 1}},
      {"EFA beside nothing", {{2, Network::efa, 0, 0}}, {0, 1}},
      {"never two networks", {{1, Network::slingshot, 200, 252}, {1, k_ib, 200, 252}}, {1}},
      {"no link", {{2, k_ib, 400, 504, Link::down}, {1, k_eth, 25, 63}}, {2}},
      {"no link at all", {{2, k_ib, 400, 504, Link::down}}, {}},
      {"InfiniBand of unknown speed, and management",
       {{4, k_ib, 0, 0}, {1, k_eth, 50, 63}},
       {0, 1, 2, 3}},
      {"a few of unknown speed, and much Ethernet",
       {{1, k_ib, 0, 0}, {4, k_eth, 400, 504}},
       {1, 2, 3, 4}},
      {"unknown Ethernet beside known", {{4, k_eth, 0, 0}, {2, k_eth, 100, 126}}, {4, 5}},
      {"all unknown", {{2, k_eth, 0, 0}, {2, k_ib, 0, 0}}, {2, 3}},
      {"only the slot is known", {{1, k_ib, 0, 31}, {2, k_ib, 0, 252}}, {1, 2}},
      {"nothing", {}, {}},
      {"what manages NVLink switches", {{4, k_ib, 400, 16}, {1, k_eth, 25, 63}}, {4}},
      {"nothing but that", {{4, k_ib, 400, 16}}, {}},
  };

  for (const auto& row : table) {
    CAPTURE(std::string(row.what));
    CHECK(compute_nics(node_of(row.kinds)) == row.used);
  }
}

TEST_CASE("described machines: no rank gets the adapter for management") {
  struct {
    const char* name;
    std::vector<unsigned> used;
    const char* left;  // why the others are
  } const table[] = {
      // PCI counts that of management first; hwloc's XML knows its model only, of 50 Gb/s at most.
      {"roce-and-management", {1, 2, 3, 4}, "50 Gb/s, slower"},
      {"thirty-two-sockets", {}, nullptr},
  };

  for (const auto& row : table) {
    CAPTURE(std::string(row.name));
    const auto node = tests::load_machine(row.name);
    REQUIRE(node);
    const NicChoice choice = choose_nics(*node);
    CHECK(choice.used == row.used);
    CHECK(choice.left.size() == (row.left == nullptr ? 0 : 1));
    for (const auto& left : choice.left) CHECK(left.why == row.left);
    BindRequest request;
    request.ranks = 8;
    for (unsigned gpu = 0; gpu < node->gpus.size(); ++gpu) request.gpus.push_back(gpu);
    const auto binding = bind_node(*node, request);
    REQUIRE(binding);
    CHECK(binding->score.nic_load == (row.used.empty() ? 0 : 2));
    for (const RankBinding& rank : binding->ranks) {
      REQUIRE(rank.nics.size() == (row.used.empty() ? 0 : 1));
      for (const unsigned nic : rank.nics)
        CHECK(node->nics[nic].numa == node->gpus[rank.gpus[0]].numa);
    }
  }
}

TEST_CASE("the functions of one card share its PCI link") {
  topo::NodeTopology node = node_of({{4, k_ib, 400, 126}, {3, k_eth, 200, 252}});
  CHECK(compute_nics(node) == std::vector<unsigned>{0, 1, 2, 3});
  for (unsigned function = 0; function < 4; ++function)
    node.nics[function].pci = fmt::format("0000:01:00.{}", function);
  CHECK(compute_nics(node) == std::vector<unsigned>{4, 5, 6});
}

TEST_CASE("why an adapter is left out") {
  const NicChoice choice = choose_nics(node_of({{1, k_ib, 400, 504},
                                                {1, k_ib, 400, 504, Link::down},
                                                {1, k_ib, 100, 126},
                                                {1, k_eth, 25, 63},
                                                {1, k_eth, 0, 0}}));
  CHECK(choice.used == std::vector<unsigned>{0});
  REQUIRE(choice.left.size() == 4);
  const char* words[] = {"no link", "100 Gb/s, slower", "Ethernet, 25 Gb/s", "speed not known"};
  for (std::size_t i = 0; i < 4; ++i) CHECK(choice.left[i].why == words[i]);
  const NicChoice none = choose_nics(node_of({{1, k_ib, 400, 16}}));
  CHECK(none.used.empty());
  REQUIRE(none.left.size() == 1);
  CHECK(none.left[0].why == "InfiniBand, 16 Gb/s, too slow");
}

TEST_CASE("an adapter of the same socket is nearer than one of another") {
  topo::NodeTopology node = node_of({{2, k_ib, 400, 504}});
  node.nics[0].package = 1;
  node.nics[0].numa = 2;
  node.nics[1].package = 0;
  node.nics[1].numa = 0;
  for (unsigned numa = 0; numa < 4; ++numa) {
    node.cores.push_back({numa / 2, numa, {}, {numa}});
    if (numa % 2 == 1) node.gpus.push_back({fmt::format("0000:8{}:00.0", numa), numa / 2, numa});
  }
  BindRequest request;
  request.ranks = 2;
  request.gpus = {0, 1};
  for (const bool with_gpus : {true, false}) {
    if (!with_gpus) request.gpus.clear();
    const auto binding = bind_node(node, request);
    REQUIRE(binding);
    CHECK(binding->ranks[0].nics == std::vector<unsigned>{1});
    CHECK(binding->ranks[1].nics == std::vector<unsigned>{0});
  }
  request.ranks = 1;
  request.gpus = {0};
  const auto alone = bind_node(node, request);
  REQUIRE(alone);
  CHECK(alone->ranks[0].nics == std::vector<unsigned>{1});
  const std::vector<std::string>& why = alone->reasons;
  for (const char* words : {"1 adapter (InfiniBand, 400 Gb/s), at most 1 rank each, all at PKG",
                            "1 adapter left out: n0 (every rank has a nearer one)"})
    CHECK(std::find(why.begin(), why.end(), words) != why.end());
}

TEST_CASE("adapters that would be idle are dealt to ranks that are as near to them") {
  struct {
    const char* machine;
    std::vector<unsigned> gpus;
    unsigned ranks;
    std::vector<std::vector<unsigned>> nics;  // of each rank, as counted by PCI
  } const table[] = {
      {"hgx-b300", {0, 1, 6, 7}, 4, {{0, 1}, {2, 3}, {12, 13}, {14, 15}}},
      {"hgx-b300", {0, 1}, 1, {{0, 1, 2, 3}}},
      {"hgx-b300", {}, 2, {{0, 1, 2, 3, 4, 5, 6, 7}, {8, 9, 10, 11, 12, 13, 14, 15}}},
      {"hgx-b300", {}, 1, {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}}},
      {"dgx-a100", {0}, 1, {{0, 1}}},  // the other adapters are behind other switches
  };

  for (const auto& row : table) {
    CAPTURE(std::string(row.machine));
    CAPTURE(row.ranks);
    const auto node = tests::load_machine(row.machine);
    REQUIRE(node);
    BindRequest request;
    request.ranks = row.ranks;
    request.gpus = row.gpus;
    const auto binding = bind_node(*node, request);
    REQUIRE(binding);
    for (unsigned rank = 0; rank < row.ranks; ++rank)
      CHECK(binding->ranks[rank].nics == row.nics[rank]);
    CHECK(binding->score.nic_load == 1);
  }
}

}  // namespace dts::plan
