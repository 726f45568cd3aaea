// SPDX-License-Identifier: Apache-2.0
// Who may start, and on which cores and GPUs.
#include "core/plan/layout/json.hpp"
#include "core/plan/plan.hpp"
#include "tests/support/contains.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

namespace dts::plan {
namespace {

// W ranks, `per_node` on each of n0, n1, ... in order.
std::vector<RankHello> hellos(const std::vector<unsigned>& per_node) {
  std::vector<RankHello> all;
  for (std::size_t node = 0; node < per_node.size(); ++node)
    for (unsigned local = 0; local < per_node[node]; ++local)
      all.push_back({static_cast<unsigned>(all.size()), 0, local, "n" + std::to_string(node), {}});
  for (RankHello& hello : all) hello.world_size = static_cast<unsigned>(all.size());
  return all;
}

Plan plan_of(unsigned nodes, unsigned tasks, unsigned gpus) {
  Plan plan;
  plan.nodes = nodes;
  plan.ntasks_per_node = tasks;
  plan.gpus_per_node = gpus;
  plan.world_size = nodes * tasks;
  plan.command = {"true"};
  return plan;
}

// `cores` cores of two threads: {0, cores}, {1, cores + 1}, ... as Linux numbers them.
topo::NodeTopology machine(unsigned cores) {
  topo::NodeTopology node;
  for (unsigned core = 0; core < cores; ++core)
    node.cores.push_back({0, 0, 0, {core, core + cores}});
  return node;
}

std::vector<Placement> placed_ranks(const std::vector<RankHello>& hellos,
                                    const Plan& plan,
                                    const std::map<std::string, topo::NodeTopology>& topologies) {
  const auto placed = place_ranks(hellos, plan, topologies);
  REQUIRE(placed);
  return placed->ranks;
}

std::string refusal(const std::vector<RankHello>& ranks, const Plan& plan) {
  const auto result = verify_ranks(ranks, plan);
  return result ? "" : result.error().message + " / " + result.error().hint;
}

using dts::tests::contains;

}  // namespace

TEST_CASE("more ranks than GPUs are accepted if the plan has them") {
  CHECK(refusal(hellos({8}), plan_of(1, 8, 4)).empty());
  CHECK_FALSE(refusal(hellos({9}), plan_of(1, 8, 4)).empty());
}

TEST_CASE("8 + 8 ranks on 2 nodes of 8 GPUs are accepted in any order") {
  auto ranks = hellos({8, 8});
  CHECK(refusal(ranks, plan_of(2, 8, 8)).empty());
  std::reverse(ranks.begin(), ranks.end());
  CHECK(refusal(ranks, plan_of(2, 8, 8)).empty());
}

TEST_CASE("Slurm's 15 + 1 packing is refused, with and without GPUs") {
  const std::string with = refusal(hellos({15, 1}), plan_of(2, 8, 8));
  CHECK(contains(with, "node n0: 15 ranks for 8 GPUs"));
  const std::string without = refusal(hellos({15, 1}), plan_of(2, 8, 0));
  CHECK(contains(without, "node n0: 15 ranks, 8 planned"));
  CHECK(contains(without, "--ntasks-per-node"));
}

TEST_CASE("missing, repeated and impossible ranks are each named") {
  auto ranks = hellos({4, 4});
  ranks.erase(ranks.begin() + 3);
  CHECK(contains(refusal(ranks, plan_of(2, 4, 0)), "missing: 3"));
  ranks = hellos({4, 4});
  ranks[5].rank = 2;
  const std::string twice = refusal(ranks, plan_of(2, 4, 0));
  CHECK(contains(twice, "missing: 5"));
  CHECK(contains(twice, "more than once: 2"));
  ranks = hellos({4, 4});
  ranks[7].rank = 4000000000U;
  CHECK(contains(refusal(ranks, plan_of(2, 4, 0)), "not below the world size 8: 4000000000"));
  CHECK(contains(refusal({}, plan_of(16, 1, 0)), "(16 in all)"));
}

TEST_CASE("a launcher that believes in another world size is refused") {
  auto ranks = hellos({4, 4});
  ranks[6].world_size = 1;  // mpirun not understanding the allocation: every rank alone
  CHECK(contains(refusal(ranks, plan_of(2, 4, 0)),
                 "rank 6 on n1: its launcher reports a world of 1, 8 are planned"));
}

TEST_CASE("fewer GPUs on the node than planned are refused") {
  auto ranks = hellos({4});
  for (RankHello& hello : ranks) hello.gpu_ids = {"0", "1", "2"};
  CHECK(contains(refusal(ranks, plan_of(1, 4, 4)), "4 ranks for 3 GPUs"));
  for (RankHello& hello : ranks)
    hello.gpu_ids = {std::to_string(hello.rank)};  // --gpu-bind: one each
  CHECK(refusal(ranks, plan_of(1, 4, 4)).empty());
}

TEST_CASE("ranks get disjoint runs of cores with all their threads, and one GPU each") {
  const auto ranks = hellos({4, 4});
  const auto placed =
      placed_ranks(ranks, plan_of(2, 4, 4), {{"n0", machine(10)}, {"n1", machine(4)}});
  REQUIRE(placed.size() == 8);
  CHECK(placed[0].cpus == std::vector<unsigned>{0, 1, 2, 10, 11, 12});  // 10 = 3 + 3 + 2 + 2
  CHECK(placed[3].cpus == std::vector<unsigned>{8, 9, 18, 19});
  CHECK(placed[3].first_cpus == std::vector<unsigned>{8, 9});
  CHECK(placed[3].cores == 2);
  CHECK(placed[5].cpus == std::vector<unsigned>{1, 5});
  for (unsigned rank = 0; rank < 8; ++rank) {
    CHECK(placed[rank].rank == rank);
    CHECK(placed[rank].local_rank == rank % 4);
    CHECK(placed[rank].node_rank == rank / 4);
    CHECK(placed[rank].gpus == std::vector<std::string>{std::to_string(rank % 4)});
  }
}

TEST_CASE("ranks are next to their GPUs, where it is known which GPUs those are") {
  topo::NodeTopology node = machine(8);
  for (unsigned core = 4; core < 8; ++core) node.cores[core].numa = 1;
  node.gpus = {{"0000:01:00.0", 0, 1, {}}, {"0000:02:00.0", 0, 0, {}}};
  const auto first_core = [&](const std::vector<RankHello>& ranks) {
    return placed_ranks(ranks, plan_of(1, 2, 2), {{"n0", node}})[0].first_cpus.front();
  };
  auto ranks = hellos({2});
  CHECK(first_core(ranks) == 4);
  for (RankHello& hello : ranks) hello.gpu_ids = {"1", "0"};
  CHECK(first_core(ranks) == 0);
  // One of two: it may be number 0 of the job or of the node.
  ranks[0].gpu_ids = ranks[1].gpu_ids = {"0"};
  CHECK(first_core(ranks) == 0);
}

TEST_CASE("no two ranks of a node share a core while there are enough, for every count") {
  for (unsigned cores = 1; cores <= 24; ++cores)
    for (unsigned n = 1; n <= 24; ++n) {
      const auto placed = placed_ranks(hellos({n}), plan_of(1, n, 0), {{"n0", machine(cores)}});
      std::multiset<unsigned> used;
      for (const Placement& p : placed) {
        REQUIRE_FALSE(p.cpus.empty());
        if (n <= cores) REQUIRE(p.cpus.size() == 2 * std::size_t{p.cores});
        REQUIRE(std::is_sorted(p.cpus.begin(), p.cpus.end()));
        used.insert(p.cpus.begin(), p.cpus.end());
      }
      const std::size_t most_sharing = (n + cores - 1) / cores;
      for (const unsigned cpu : used) REQUIRE(used.count(cpu) <= most_sharing);
    }
}

TEST_CASE("fewer ranks than GPUs have as many each as the others, in runs") {
  const auto placed = placed_ranks(hellos({3}), plan_of(1, 3, 8), {});
  CHECK(placed[0].gpus == std::vector<std::string>{"0", "1"});
  CHECK(placed[1].gpus == std::vector<std::string>{"2", "3"});
  CHECK(placed[2].gpus == std::vector<std::string>{"4", "5"});
  CHECK(placed[0].cpus.empty());  // no topology: not bound
  CHECK(placed_ranks(hellos({1}), plan_of(1, 1, 8), {})[0].gpus.size() ==
        8);  // torchrun on a whole node
}

TEST_CASE("a part of the node's GPUs is known by Slurm's numbers, whatever CUDA calls them") {
  topo::NodeTopology node = machine(16);
  node.numas = {{0, 0}, {3, 0}};
  node.fabric = {{"mlx5_0", 1, 200, true}, {"mlx5_1", 2, 200, true}};
  for (unsigned core = 8; core < 16; ++core) node.cores[core].numa = 1;
  node.gpus = {{"0000:01:00.0", 0, 0}, {"0000:02:00.0", 0, 1}, {"0000:03:00.0", 0, 1}};
  node.nics = {{"0000:08:00.0", 0, 0, {}, {}, "mlx5_0"}, {"0000:09:00.0", 0, 1, {}, {}, "mlx5_1"}};
  auto ranks = hellos({2});
  for (RankHello& hello : ranks) {
    hello.gpu_ids = {"0", "1"};
    hello.gpu_numbers = {1, 2};
  }
  const auto placed = placed_ranks(ranks, plan_of(1, 2, 2), {{"n0", node}});
  CHECK(placed[0].gpus == std::vector<std::string>{"0"});
  CHECK(placed[0].first_cpus.front() == 8);
  CHECK(placed[0].home_cores == 4);
  CHECK(placed[0].cores == 8);
  CHECK(to_text(placed[0].memory) == "prefer 3");
  CHECK(placed[1].nics == std::vector<std::string>{"mlx5_1:2"});
}

TEST_CASE("GPUs are located by their UUIDs, MIG instances by those of theirs") {
  topo::NodeTopology node = machine(16);
  for (unsigned core = 0; core < 16; ++core) node.cores[core].numa = core / 4;
  node.numas.resize(4);
  const char* uuids[] = {"GPU-10aa", "GPU-10bb", "GPU-20aa", ""};
  for (unsigned gpu = 0; gpu < 4; ++gpu) {
    node.gpus.push_back({"0000:0" + std::to_string(gpu) + ":00.0", 0, gpu});
    node.gpus.back().uuid = uuids[gpu];
  }
  node.gpus[2].instances = {"MIG-71aa", "MIG-72bb"};
  using Names = std::vector<std::string>;

  struct Row {
    const char* what;
    Names ids;
    std::vector<unsigned> slurm;  // SLURM_STEP_GPUS
    std::vector<Names> given;     // to each rank
    std::vector<unsigned> home;   // one of each; 0 and 8: GPUs not located
  };

  for (const Row& row : {
           Row{"whole", {"GPU-20aa", "GPU-10bb"}, {}, {{"GPU-20aa"}, {"GPU-10bb"}}, {8, 4}},
           Row{"abbreviated", {"GPU-2", "GPU-10b"}, {}, {{"GPU-2"}, {"GPU-10b"}}, {8, 4}},
           Row{"of two", {"GPU-2", "GPU-10"}, {}, {{"GPU-2"}, {"GPU-10"}}, {0, 8}},
           Row{"of two, and Slurm's", {"GPU-2", "GPU-10"}, {2, 1}, {{"GPU-2"}, {"GPU-10"}}, {8, 4}},
           Row{"unknown", {"GPU-2", "GPU-77"}, {}, {{"GPU-2"}, {"GPU-77"}}, {0, 8}},
           Row{"nothing but the kind", {"GPU-", "GPU-2"}, {}, {{"GPU-"}, {"GPU-2"}}, {0, 8}},
           Row{"twice", {"GPU-2", "GPU-20"}, {}, {{"GPU-2"}, {"GPU-20"}}, {0, 8}},
           Row{"MIG", {"MIG-71aa", "MIG-72bb"}, {}, {{"MIG-71aa"}, {"MIG-72bb"}}, {8, 10}},
           Row{"MIG, odd", {"MIG-72", "MIG-71", "GPU-10a"}, {}, {{"MIG-72"}, {"MIG-71"}}, {8, 10}},
           Row{"MIG of old",
               {"MIG-GPU-20aa/7/0", "MIG-GPU-10bb/1/0"},
               {},
               {{"MIG-GPU-20aa/7/0"}, {"MIG-GPU-10bb/1/0"}},
               {8, 4}},
           Row{"MIG unknown, Slurm's are no GPUs'",
               {"MIG-88", "MIG-99"},
               {2, 1},
               {{"MIG-88"}, {"MIG-99"}},
               {0, 8}},
           Row{"two each",
               {"GPU-20aa", "GPU-10aa", "GPU-10bb", "3"},
               {},
               {{"GPU-10aa", "GPU-10bb"}, {"GPU-20aa", "3"}},
               {0, 8}},
       }) {
    CAPTURE(row.what);
    auto ranks = hellos({2});
    for (RankHello& hello : ranks) {
      hello.gpu_ids = row.ids;
      hello.gpu_numbers = row.slurm;
    }
    const auto gpus = static_cast<unsigned>(row.ids.size());
    const auto placed = placed_ranks(ranks, plan_of(1, 2, gpus), {{"n0", node}});
    for (std::size_t rank = 0; rank < 2; ++rank) {
      CAPTURE(rank);
      CHECK(placed[rank].gpus == row.given[rank]);
      const std::vector<unsigned>& cpus = placed[rank].first_cpus;  // four home cores first
      CHECK(std::count(cpus.begin(), cpus.begin() + 4, row.home[rank]) == 1);
    }
  }
}

TEST_CASE("lists that Slurm made for each rank are located by UUIDs") {
  topo::NodeTopology node = machine(8);
  for (unsigned core = 0; core < 8; ++core) node.cores[core].numa = core / 4;
  node.numas.resize(2);
  node.gpus = {{"0000:01:00.0", 0, 0}, {"0000:02:00.0", 0, 1}, {"0000:03:00.0", 0, 1}};
  node.gpus[0].uuid = "GPU-a";
  node.gpus[1].instances = {"MIG-b", "MIG-c"};
  auto ranks = hellos({2});
  ranks[0].gpu_ids = {"MIG-c", "MIG-b"};
  ranks[1].gpu_ids = {"GPU-a"};
  const auto placed = placed_ranks(ranks, plan_of(1, 2, 2), {{"n0", node}});
  CHECK(placed[0].first_cpus.front() == 4);
  CHECK(placed[0].gpus == ranks[0].gpu_ids);
  CHECK(placed[1].first_cpus.front() == 0);
}

TEST_CASE("a plan's policy is kept, and one that a node cannot meet is refused by its name") {
  Plan plan = plan_of(1, 2, 0);
  plan.bind = *spec::parse_bind("map:0;1");
  plan.smt = 1;
  CHECK(placed_ranks(hellos({2}), plan, {{"n0", machine(4)}})[1].cpus == std::vector<unsigned>{1});
  plan.bind = *spec::parse_bind("none");
  CHECK(placed_ranks(hellos({2}), plan, {{"n0", machine(4)}})[1].cores == 4);
  CHECK(placed_ranks(hellos({2}), plan, {{"n0", machine(4)}})[1].home_cores == 2);
  plan.bind = *spec::parse_bind("map:0;99");
  const auto refused = place_ranks(hellos({2}), plan, {{"n0", machine(4)}});
  REQUIRE_FALSE(refused);
  CHECK(contains(refused.error().message, "n0: "));
  CHECK(contains(refused.error().message, "processor 99"));
}

TEST_CASE("notes about a binding are made once for all nodes that are alike") {
  const auto placed = place_ranks(hellos({2, 2, 2}),
                                  plan_of(3, 2, 0),
                                  {{"n0", machine(4)}, {"n1", machine(4)}, {"n2", machine(2)}});
  REQUIRE(placed);
  CHECK(placed->notes ==
        std::vector<std::string>{
            "binding: 2 ranks on 4 cores in 1 NUMA node: 2 each, all used (n[0-1])",
            "binding: 2 ranks on 2 cores in 1 NUMA node: 1 each, all used (n2)"});
}

TEST_CASE("the GPUs a node gave us are used by their names, and a rank's own list is kept") {
  auto ranks = hellos({2});
  for (RankHello& hello : ranks) hello.gpu_ids = {"GPU-a", "GPU-b"};
  CHECK(placed_ranks(ranks, plan_of(1, 2, 2), {})[1].gpus == std::vector<std::string>{"GPU-b"});
  ranks[1].gpu_ids = {"7"};
  CHECK(placed_ranks(ranks, plan_of(1, 2, 2), {})[1].gpus == std::vector<std::string>{"7"});
  CHECK(placed_ranks(ranks, plan_of(1, 2, 0), {})[1].gpus.empty());
}

TEST_CASE("node ranks follow the lowest rank, local ranks the launcher's order") {
  // Ranks dealt round: b gets 0 and 2, a gets 1 and 3; the launcher numbers a's in reverse.
  const std::vector<RankHello> ranks = {
      {3, 4, 0, "a", {}}, {1, 4, 1, "a", {}}, {0, 4, 0, "b", {}}, {2, 4, 1, "b", {}}};
  const auto placed = placed_ranks(ranks, plan_of(2, 2, 0), {});
  CHECK(placed[0].node_rank == 0);
  CHECK(placed[1].node_rank == 1);
  CHECK(placed[3].local_rank == 0);
  CHECK(placed[1].local_rank == 1);
}

TEST_CASE("placement.json has one line a rank and a schema") {
  const std::string text =
      to_json(placed_ranks(hellos({2}), plan_of(1, 2, 0), {{"n0", machine(2)}}));
  CHECK(contains(text, R"("schema": "dtsubmit/placement/1")"));
  CHECK(contains(
      text,
      R"({"rank":1,"local_rank":1,"local_world_size":2,"node_rank":0,"node":"n0","cores":1,"home_cores":1,"cpus":[1,3],"gpus":[],"nics":[],"memory":"none","links":[]})"));
  CHECK(to_json(std::vector<Placement>{}).back() == '\n');
}

TEST_CASE("placement.json has the best link between the GPUs of two ranks") {
  topo::NodeTopology node = machine(4);
  for (unsigned gpu = 0; gpu < 4; ++gpu) {
    node.gpus.emplace_back();
    node.gpus.back().pci = "0000:0" + std::to_string(gpu) + ":00.0";
  }
  node.links = {{0, 1, 9}, {0, 2, 2}, {1, 3, 4}};  // ranks have GPUs 0,1 and 2,3
  const auto placed = placed_ranks(hellos({2}), plan_of(1, 2, 4), {{"n0", node}});
  const std::string text = to_json(placed);
  CHECK(contains(
      text,
      R"("gpus":["0","1"],"nics":[],"memory":"none","links":[{"local_rank":1,"weight":4}]})"));
  CHECK(contains(
      text,
      R"("gpus":["2","3"],"nics":[],"memory":"none","links":[{"local_rank":0,"weight":4}]})"));
}

}  // namespace dts::plan
