// SPDX-License-Identifier: Apache-2.0
// bind_node() on described machines, and on recorded ones where there are any, in whole and in
// parts: whatever the machine, nobody is without, nothing is lost, nothing is shared that need not
// be.
#include "core/base/files/files.hpp"
#include "core/plan/binding/binding.hpp"
#include "core/plan/cores/share_nics.hpp"
#include "core/topo/distance.hpp"
#include "core/topo/hwloc/load.hpp"
#include "tests/support/described.hpp"
#include "tests/support/recorded.hpp"
#include "tests/support/sanitized.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <tuple>

namespace dts::plan {
namespace {

using tests::have_recorded;
using tests::k_recorded;

constexpr unsigned k_parts = tests::k_sanitized ? 4 : 15;
constexpr unsigned k_step = tests::k_sanitized ? 3 : 1;  // of the machines

using topo::NodeTopology;

std::vector<unsigned> numbers(std::size_t count) {
  std::vector<unsigned> list(count);
  std::iota(list.begin(), list.end(), 0U);
  return list;
}

// GPUs and adapters, one for each number, in that NUMA node and behind its host bridge.
NodeTopology described(const char* text,
                       const std::vector<unsigned>& gpus,
                       const std::vector<unsigned>& nics) {
  NodeTopology node = *topo::load_synthetic(text);
  const auto add = [&](std::vector<topo::Device>& devices, unsigned numa) {
    topo::Device& device = devices.emplace_back();
    device.pci = "0000:" + std::to_string(10 + node.gpus.size() + node.nics.size()) + ":00.0";
    device.package = node.numas[numa].package;
    device.numa = numa;
    device.bridges = {numa, 100 + static_cast<unsigned>(devices.size() / 2)};
  };
  for (const unsigned numa : gpus) add(node.gpus, numa);
  for (const unsigned numa : nics) add(node.nics, numa);
  return node;
}

std::vector<std::pair<std::string, NodeTopology>> machines() {
  std::vector<std::pair<std::string, NodeTopology>> all;
  all.emplace_back("one core", described("core:1 pu:1", {}, {}));
  all.emplace_back("one GPU", described("package:1 core:4 pu:2", {0}, {0}));
  all.emplace_back("uneven GPUs", described("package:2 numa:4 core:4 pu:2", {1, 2, 5, 7}, {3}));
  all.emplace_back(
      "8 GPUs on half",
      described("package:2 numa:4 l3:4 core:4 pu:1", {3, 3, 1, 1, 7, 7, 5, 5}, {1, 3, 5, 7}));
  all.emplace_back("16 GPUs",
                   described("package:4 numa:4 core:6 pu:2",
                             {15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0},
                             {0, 5, 10, 15}));
  all.emplace_back("3 GPUs, SMT 8", described("package:2 core:5 pu:8", {0, 0, 0}, {0, 0}));
  all.emplace_back("no NUMA", described("package:3 l3:2 core:3 pu:1", {0, 0}, {}));
  for (const std::string& name : tests::machine_names()) {
    const auto node = tests::load_machine(name);
    if (!node) FAIL(node.error().message);
    all.emplace_back(name, *node);
  }
  for (const std::string& file : tests::recorded_files()) {
    const auto node = topo::load_xml(file);
    REQUIRE(node);
    all.emplace_back(file, *node);
  }
  return all;
}

void check_gpus(const std::vector<unsigned>& gpus, const NodeBinding& binding) {
  std::map<unsigned, unsigned> users;
  const std::size_t ranks = binding.ranks.size();
  const std::size_t each = gpus.empty() ? 0 : std::max<std::size_t>(1, gpus.size() / ranks);
  for (const RankBinding& rank : binding.ranks) {
    const bool sound = rank.gpus.size() == each &&
                       std::includes(gpus.begin(), gpus.end(), rank.gpus.begin(), rank.gpus.end());
    if (!sound) FAIL("a rank with other GPUs than it should have");
    for (const unsigned gpu : rank.gpus) ++users[gpu];
  }
  REQUIRE(users.size() == std::min(gpus.size(), std::max(ranks, ranks * each)));
  for (const auto& [gpu, count] : users)
    REQUIRE((count == ranks / gpus.size() || count == ranks / gpus.size() + 1));
  if (!gpus.empty() && gpus.size() > ranks && gpus.size() % ranks != 0)
    REQUIRE(
        std::any_of(binding.warnings.begin(), binding.warnings.end(), [](const std::string& words) {
          return words.find("no rank has") != std::string::npos;
        }));
}

void check_cores(const NodeTopology& node, const NodeBinding& binding) {
  const std::size_t ranks = binding.ranks.size(), cores = node.cores.size();
  std::multiset<unsigned> used;
  for (const RankBinding& rank : binding.ranks) {
    const bool sound = !rank.home.empty() && !rank.cpus.empty() &&
                       std::is_sorted(rank.cpus.begin(), rank.cpus.end());
    if (!sound) FAIL("a rank without cores");
    used.insert(rank.home.begin(), rank.home.end());
    used.insert(rank.annex.begin(), rank.annex.end());
  }
  REQUIRE(*used.rbegin() < cores);
  REQUIRE(std::set<unsigned>(used.begin(), used.end()).size() == cores);
  REQUIRE(used.size() == std::max(ranks, cores));
  REQUIRE(binding.score.most_cores - binding.score.fewest_cores <= 1);
  REQUIRE(binding.score.fewest_cores == binding.bound.fewest_cores);
  REQUIRE((ranks > cores || binding.score.shared_cores == 0));
  REQUIRE(binding.score.shared_cores == binding.bound.shared_cores);
  REQUIRE(binding.score.shared_l3 >= binding.bound.shared_l3);
  REQUIRE(binding.score.home_distance >= binding.bound.home_distance);
  REQUIRE(binding.score.mean_distance >= binding.bound.mean_distance - 1e-9);
}

// Every rank has adapters if the node has any to use, and none is idle that is as near to a rank as
// the farthest of its own.
void check_nics(const NodeTopology& node, const NodeBinding& binding) {
  const std::vector<unsigned> nics = compute_nics(node);
  std::set<unsigned> used;
  for (const RankBinding& rank : binding.ranks) {
    if (rank.nics.empty() != nics.empty()) FAIL("a rank without an adapter");
    used.insert(rank.nics.begin(), rank.nics.end());
  }
  for (const unsigned nic : nics) {
    if (used.contains(nic)) continue;
    for (const RankBinding& rank : binding.ranks) {
      const auto is_farther = [&](unsigned own) {
        return nic_distance(node, rank, nic) > nic_distance(node, rank, own);
      };
      if (!std::all_of(rank.nics.begin(), rank.nics.end(), is_farther))
        FAIL("an adapter as near as another is idle");
    }
  }
}

void check(const NodeTopology& node, const std::vector<unsigned>& gpus, std::size_t ranks) {
  CAPTURE(ranks);
  CAPTURE(gpus.size());
  BindRequest request;
  request.ranks = static_cast<unsigned>(ranks);
  request.gpus = gpus;
  const auto binding = bind_node(node, request);
  REQUIRE(binding);
  REQUIRE(binding->ranks.size() == ranks);
  check_gpus(gpus, *binding);
  check_cores(node, *binding);
  check_nics(node, *binding);
}

void check_same(const NodeTopology& node, const std::vector<unsigned>& gpus, std::size_t ranks) {
  BindRequest request;
  request.ranks = static_cast<unsigned>(ranks);
  request.gpus = gpus;
  const auto one = bind_node(node, request), other = bind_node(node, request);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    REQUIRE(one->ranks[rank].cpus == other->ranks[rank].cpus);
    REQUIRE(one->ranks[rank].gpus == other->ranks[rank].gpus);
    REQUIRE(one->ranks[rank].nics == other->ranks[rank].nics);
  }
}

// With more ranks than cores the fewest are shared where they are the most crowded.
auto worth(const BindingScore& s, bool crowded) {
  return std::make_tuple(crowded ? 0 : s.shared_cores,
                         s.home_distance,
                         -int(s.fewest_cores),
                         s.unused_cores,
                         s.most_cores,
                         s.mean_distance);
}

// With more ranks than cores: no core has two ranks more than another, as bind_node() promises
// where cores have equally many hardware threads.
bool is_even(const NodeTopology& node, const NodeBinding& binding) {
  std::vector<unsigned> users(node.cores.size(), 0);
  for (const RankBinding& rank : binding.ranks)
    for (const auto* list : {&rank.home, &rank.annex})
      for (const unsigned core : *list) ++users[core];
  const auto [fewest, most] = std::minmax_element(users.begin(), users.end());
  return *most - *fewest <= 1;
}

// Slurm's block and cyclic distributions, here the policies compact and spread, are never better,
// unless GPUs of their ranks are nearer each other at the cost of the rank with the fewest near
// cores, which comes first.
void check_copies(const NodeTopology& node,
                  const std::vector<unsigned>& gpus,
                  std::size_t ranks,
                  unsigned& poorer) {
  BindRequest request;
  request.ranks = static_cast<unsigned>(ranks);
  request.gpus = gpus;
  const auto ours = bind_node(node, request);
  for (const BindPolicy policy : {BindPolicy::compact, BindPolicy::spread}) {
    request.policy = policy;
    const auto theirs = bind_node(node, request);
    CAPTURE(ranks);
    const bool crowded = ranks > node.cores.size();
    if (crowded && !is_even(node, *theirs)) continue;
    if (theirs->score.near_cores[0] < ours->score.near_cores[0] &&
        theirs->score.gpu_numas < ours->score.gpu_numas) {
      ++poorer;
      continue;
    }
    REQUIRE(worth(ours->score, crowded) <= worth(theirs->score, crowded));
  }
}

std::set<std::size_t> rank_counts(std::size_t gpus, std::size_t cores) {
  std::set<std::size_t> counts{1, 2, gpus / 2, gpus, gpus + 1, 2 * gpus, cores};
  counts.erase(0);
  return counts;
}

Result<NodeBinding> one_rank_a_gpu(const NodeTopology& node) {
  BindRequest request;
  request.ranks = static_cast<unsigned>(node.gpus.size());
  request.gpus = numbers(node.gpus.size());
  return bind_node(node, request);
}

std::vector<unsigned> some_of(std::vector<unsigned> all, std::mt19937& random) {
  const auto keep = 1 + random() % 9;
  std::erase_if(all, [&](unsigned) { return random() % 10 >= keep; });
  return all;
}

}  // namespace

TEST_CASE("any machine, in whole and in random parts of its cores and GPUs") {
  unsigned checked = 0, poorer = 0, machine = 0;
  for (const auto& row : machines()) {
    if (machine++ % k_step != 0) continue;
    const auto& [name, node] = row;
    CAPTURE(row.first);
    std::mt19937 random(1);
    const auto gpus = numbers(node.gpus.size());
    for (const std::size_t ranks : rank_counts(gpus.size(), node.cores.size())) {
      check(node, gpus, ranks);
      check_same(node, gpus, ranks);
      check_copies(node, gpus, ranks, poorer);
      ++checked;
    }
    for (unsigned part = 0; part < k_parts; ++part) {
      NodeTopology rest = node;
      const auto keep = 1 + random() % 9;
      std::erase_if(rest.cores, [&](const topo::Core&) { return random() % 10 >= keep; });
      if (rest.cores.empty()) continue;
      const auto some = part % 2 == 0 ? gpus : some_of(gpus, random);
      auto counts = rank_counts(some.size(), rest.cores.size());
      for (const std::size_t ranks : counts) {
        check(rest, some, ranks);
        if (part % 10 == 0) check_copies(rest, some, ranks, poorer);
        ++checked;
      }
    }
  }
  MESSAGE(checked << " bindings, " << poorer
                  << " others with GPUs in fewer NUMA nodes, but poorer");
  CHECK(poorer <= checked / 100);
  CHECK(checked > 150 * k_parts / k_step);
}

TEST_CASE("described machines, one rank a GPU: as near as counted by hand, and no core idle") {
  struct Expected {
    const char* name;
    double home, mean;  // topo::distance()
  };

  // Home cores are in the GPU's own part wherever it has one. The mean is 0 where every NUMA node
  // has as many GPUs as the others, 1 where half of the cores are those of the package's other
  // nodes (steps 0 and 2).
  for (const Expected& expected : {Expected{"dgx-a100", 0, 1},
                                   Expected{"frontier", 0, 0},
                                   Expected{"gb200-tray", 0, 0},
                                   Expected{"gh200-quad", 0, 0},
                                   Expected{"hgx-h100", 0, 0},
                                   Expected{"jureca-dc", 0, 1},
                                   Expected{"mi300a-cpx", 0, 0},
                                   Expected{"mi300a-spx", 0, 0},
                                   Expected{"power9-lassen", 0, 0},
                                   Expected{"spr-snc4-h100", 0, 1}}) {
    CAPTURE(std::string(expected.name));
    const auto node = tests::load_machine(expected.name);
    REQUIRE(node);
    const auto binding = one_rank_a_gpu(*node);
    REQUIRE(binding);
    CHECK(binding->score.home_distance == doctest::Approx(expected.home));
    CHECK(binding->score.mean_distance == doctest::Approx(expected.mean));
    CHECK(binding->score.unused_cores == 0);
  }
}

TEST_CASE("recorded machines, one rank a GPU: as near as measured by hand, and no core idle") {
  struct Expected {
    const char* file;
    double home, mean;  // topo::distance()
    double nic;         // topo::Path
    unsigned nic_load;
  };

  // Home cores are in the GPU's own part wherever it has one. The mean is 0 where every NUMA node
  // has its GPUs, 1 where half of the cores are those of the package's other nodes (steps 0 and 2).
  // Of ipa20's four adapters only one has a link.
  const Expected table[] = {
      {"azure-ndv5-8xH100-8ib-2xSPR48c-nosmt.xml", 0, 0, 0, 1},
      {"frontier-tioga_1xEPYC7A53-NPS4_8xMI250X-GCD_4xSlingshot.xml", 0, 0, 2.5, 2},
      {"lassen_2xPOWER9-SMT4_4xV100_4ib_16disallowedPU.xml", 0, 0, 3, 1},
      {"tuolumne-elcap_4xMI300A_SPX_4gpu.xml", 0, 0, 2, 1},
      {"8gpu-4nic-2xEPYC7742-NPS4-dgxa100like.xml", 0, 1, 1, 2},
      {"jureca-dc_2xEPYC7742-NPS4_4xA100_4ib+gpuos.xml", 0, 1, 0, 1},
      {"ipa20_2xSPR8480-SNC4_4xH100_ib.xml", 0, 1, 3.5, 4},
      {"gh200-quad-gpunuma-kept.xml", 0, 0, 3, 1},
  };
  for (const Expected& expected : table) {
    CAPTURE(std::string(expected.file));
    if (!have_recorded(expected.file)) continue;
    const auto node = topo::load_xml(k_recorded + expected.file);
    REQUIRE(node);
    const auto binding = one_rank_a_gpu(*node);
    REQUIRE(binding);
    CHECK(binding->score.home_distance == doctest::Approx(expected.home));
    CHECK(binding->score.mean_distance == doctest::Approx(expected.mean));
    CHECK(binding->score.nic_distance == doctest::Approx(expected.nic));
    CHECK(binding->score.nic_load == expected.nic_load);
    CHECK(binding->score.unused_cores == 0);
  }
}

}  // namespace dts::plan
