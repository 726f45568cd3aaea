// SPDX-License-Identifier: Apache-2.0
// Roles that share a node: each has cores and GPUs of its own, on every described machine.
#include "core/plan/binding/node_share.hpp"

#include "core/plan/plan.hpp"
#include "tests/support/described.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace dts::plan {
namespace {

// One rank per GPU of the role, or one.
Plan plan_of(const SharedNodes& shared, unsigned role) {
  Plan plan;
  plan.gpus_per_node = shared.gpus[role];
  plan.ntasks_per_node = plan.world_size = std::max(1U, plan.gpus_per_node);
  plan.command = {"true"};
  plan.shared = shared;
  plan.shared->own = role;
  return plan;
}

std::vector<Placement> placed(const Plan& plan, const topo::NodeTopology& node, unsigned gpus) {
  std::vector<RankHello> hellos;
  for (unsigned rank = 0; rank < plan.world_size; ++rank) {
    RankHello hello{rank, plan.world_size, rank, "n0", {}, {}};
    for (unsigned gpu = 0; gpu < gpus; ++gpu) {
      hello.gpu_ids.push_back(std::to_string(gpu));
      hello.gpu_numbers.push_back(gpu);
    }
    hellos.push_back(hello);
  }
  auto ranks = place_ranks(hellos, plan, {{"n0", node}});
  if (!ranks) FAIL(ranks.error().message);
  return ranks->ranks;
}

}  // namespace

TEST_CASE(
    "described machines: roles that share a node have disjoint cores and GPUs, and all of them") {
  for (const std::string& name : tests::machine_names()) {
    CAPTURE(name);
    const auto node = tests::load_machine(name);
    REQUIRE(node);
    const auto gpus = static_cast<unsigned>(node->gpus.size());
    for (const SharedNodes& shared : {SharedNodes{0, {4, 12}, {gpus / 4, gpus - gpus / 4}},
                                      SharedNodes{0, {1, 1, 6}, {0, gpus / 2, gpus - gpus / 2}},
                                      SharedNodes{0, {8, 8}, {gpus, 0}}}) {
      if (node->cores.size() < shared.cpus.size()) continue;
      std::map<unsigned, unsigned> users;  // of each PU: the role
      std::multiset<std::string> given;
      for (unsigned role = 0; role < shared.cpus.size(); ++role)
        for (const Placement& rank : placed(plan_of(shared, role), *node, gpus)) {
          CHECK_FALSE(rank.cpus.empty());
          for (const unsigned pu : rank.cpus)
            CHECK(users.try_emplace(pu, role).first->second == role);
          given.insert(rank.gpus.begin(), rank.gpus.end());
        }
      std::size_t pus = 0;
      for (const topo::Core& core : node->cores) pus += core.pus.size();
      CHECK(users.size() == pus);
      CHECK(given.size() == gpus);
      CHECK(std::set(given.begin(), given.end()).size() == gpus);
    }
  }
}

TEST_CASE("roles get cores in proportion to their CPUs, and near their GPUs") {
  const auto node = tests::load_machine("dgx-a100");
  REQUIRE(node);
  REQUIRE(node->cores.size() == 128);
  std::map<std::string, std::vector<unsigned>> memory;  // near each GPU, if one role has them all
  Plan whole = plan_of(SharedNodes{0, {1}, {8}}, 0);
  whole.shared.reset();
  for (const Placement& rank : placed(whole, *node, 8)) memory[rank.gpus.at(0)] = rank.memory.nodes;
  const SharedNodes shared{0, {16, 16, 96}, {0, 2, 6}};
  std::vector<unsigned> gpus(8);
  std::iota(gpus.begin(), gpus.end(), 0U);
  for (unsigned role = 0; role < 3; ++role) {
    SharedNodes own = shared;
    own.own = role;
    const auto share = share_of_node(*node, own, gpus);
    REQUIRE(share);
    CHECK(share->cores.size() == shared.cpus[role]);
    if (shared.gpus[role] == 0) continue;
    for (const Placement& rank : placed(plan_of(shared, role), *node, 8))
      CHECK(rank.memory.nodes == memory.at(rank.gpus.at(0)));
  }
}

TEST_CASE("on a node with fewer cores than roles, all of them use every core") {
  const auto node = tests::load_machine("one-core");
  REQUIRE(node);
  const auto share = share_of_node(*node, SharedNodes{1, {1, 1}, {0, 0}}, {});
  REQUIRE(share);
  CHECK(share->cores.size() == 1);
}

TEST_CASE("roles on a machine with fewer GPUs than they need share them") {
  const auto node = tests::load_machine("gpus-on-one-socket");
  REQUIRE(node);
  const auto gpus = static_cast<unsigned>(node->gpus.size());
  const SharedNodes shared{0, {}, {1, gpus}};
  std::multiset<std::string> given;
  for (unsigned role = 0; role < 2; ++role)
    for (const Placement& rank : placed(plan_of(shared, role), *node, 0)) {
      CHECK(rank.gpus.size() == 1);
      for (const std::string& gpu : rank.gpus) CHECK(std::stoul(gpu) < gpus);
      given.insert(rank.gpus.begin(), rank.gpus.end());
    }
  CHECK(given.size() == gpus + 1);
  CHECK(given.count("0") == 2);
}

TEST_CASE("instances of one GPU are given to different roles") {
  const auto node = tests::load_machine("gpus-on-one-socket");
  REQUIRE(node);
  const auto instances = static_cast<unsigned>(node->gpus.size()) + 3;
  const SharedNodes shared{0, {4, 12}, {1, instances - 1}};
  std::set<std::string> given;
  for (unsigned role = 0; role < 2; ++role)
    for (const Placement& rank : placed(plan_of(shared, role), *node, instances))
      for (const std::string& gpu : rank.gpus) CHECK(given.insert(gpu).second);
  CHECK(given.size() == instances);
}

TEST_CASE("shares that do not fit a node exactly differ from it by one core") {
  const auto node = tests::load_machine("dgx-a100");
  REQUIRE(node);
  for (const std::vector<unsigned>& cpus : {std::vector<unsigned>{1, 1, 1},
                                            std::vector<unsigned>{1, 1, 1000},
                                            std::vector<unsigned>{7, 5, 3, 2, 2}}) {
    const unsigned all = std::accumulate(cpus.begin(), cpus.end(), 0U);
    std::size_t sum = 0;
    for (unsigned role = 0; role < cpus.size(); ++role) {
      const auto share =
          share_of_node(*node, SharedNodes{role, cpus, std::vector<unsigned>(cpus.size())}, {});
      REQUIRE(share);
      const double quota = 128.0 * cpus[role] / all;
      CHECK(share->cores.size() >= 1);
      CHECK(share->cores.size() >= static_cast<std::size_t>(quota) - (quota > 100 ? 2 : 0));
      CHECK(static_cast<double>(share->cores.size()) <= std::max(1.0, quota + 1));
      sum += share->cores.size();
    }
    CHECK(sum == 128);
  }
}

}  // namespace dts::plan
