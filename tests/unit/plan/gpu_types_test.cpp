// SPDX-License-Identifier: Apache-2.0
// GPUs of a type: which of a node's they are, and which of them ranks get.
#include "core/plan/gpus/gpu_types.hpp"

#include "core/plan/plan.hpp"
#include "tests/support/contains.hpp"

#include <doctest/doctest.h>

namespace dts::plan {
namespace {

constexpr const char* k_a100 = "NVIDIA A100-SXM4-40GB";
constexpr const char* k_h100 = "NVIDIA H100 80GB HBM3";

topo::NodeTopology node_with(const std::vector<std::string>& models) {
  topo::NodeTopology node;
  for (unsigned core = 0; core < 8; ++core) node.cores.push_back({0, 0, 0, {core}});
  for (const std::string& model : models) {
    node.gpus.push_back({"0000:0" + std::to_string(node.gpus.size()) + ":00.0", 0, 0});
    node.gpus.back().model = model;
  }
  return node;
}

struct Asked {
  std::vector<std::string> visible;  // CUDA_VISIBLE_DEVICES
  std::vector<unsigned> numbers;     // SLURM_JOB_GPUS
  unsigned gpus = 2;
};

// Two ranks on the node.
PlacedRanks placed(const topo::NodeTopology& node, const std::string& type, const Asked& asked) {
  Plan plan;
  plan.ntasks_per_node = plan.world_size = 2;
  plan.gpus_per_node = asked.gpus;
  plan.command = {"true"};
  std::vector<RankHello> hellos;
  for (unsigned rank = 0; rank < 2; ++rank)
    hellos.push_back({rank, 2, rank, "n0", asked.visible, asked.numbers});
  auto ranks = place_ranks(hellos, plan, {{"n0", node}}, type);
  REQUIRE(ranks);
  return *std::move(ranks);
}

std::string gpus_of(const PlacedRanks& placed) {
  std::string all;
  for (const Placement& placement : placed.ranks)
    for (const std::string& gpu : placement.gpus) all += gpu + " ";
  return all;
}

bool warns(const PlacedRanks& placed) {
  return std::any_of(placed.notes.begin(), placed.notes.end(), [](const std::string& note) {
    return tests::contains(note, "a name of the site's own");
  });
}

using GpuNumbers = std::vector<unsigned>;

}  // namespace

TEST_CASE("a type is part of a product's name as Slurm writes it") {
  CHECK(is_type_of("a100", k_a100));
  CHECK(is_type_of("nvidia_a100-sxm4-40gb", k_a100));
  CHECK(is_type_of("A100-SXM4", k_a100));
  CHECK(is_type_of("h100_80gb", k_h100));
  CHECK_FALSE(is_type_of("a100-80gb", k_a100));
  CHECK_FALSE(is_type_of("h100", k_a100));
}

TEST_CASE("some of the type, all, none, not known, and MIG") {
  const auto others = [](const std::vector<std::string>& models, const char* type) {
    return gpus_by_type(node_with(models), type).others;
  };
  CHECK(others({k_h100, k_a100, k_h100}, "a100") == GpuNumbers{0, 2});
  CHECK(others({k_a100, k_a100}, "a100").empty());
  CHECK(others({k_a100, k_h100}, "gold").empty());
  CHECK(others({k_a100, "", k_h100}, "a100") == GpuNumbers{2});
  CHECK(others({k_a100, k_h100}, "").empty());
  CHECK(gpus_by_type(node_with({k_a100, k_h100}), "gold").has_own_name);
  CHECK_FALSE(gpus_by_type(node_with({k_a100}), "a100").has_own_name);
  CHECK_FALSE(gpus_by_type(node_with({"", ""}), "gold").has_own_name);
  topo::NodeTopology mig = node_with({k_a100, k_h100});
  mig.gpus[1].instances = {"MIG-1"};
  CHECK(gpus_by_type(mig, "a100").others.empty());
  CHECK_FALSE(gpus_by_type(mig, "1g.5gb").has_own_name);
  CHECK(tests::contains(own_name_warning(node_with({k_a100, k_h100, k_a100}), "gold"),
                        "`gold` in its product's name (NVIDIA A100-SXM4-40GB, NVIDIA H100 80GB "
                        "HBM3)"));
}

TEST_CASE("ranks get GPUs of the type, and one that is not is reported") {
  const topo::NodeTopology node = node_with({k_h100, k_a100, k_h100, k_a100});

  struct Row {
    const char* what;
    const char* type;
    Asked asked;
    const char* given;
    GpuNumbers other;
  };

  for (const Row& row : {
           Row{"of all", "a100", {{}, {}}, "1 3 ", {}},
           Row{"of all, without a type", "", {{}, {}}, "0 1 ", {}},
           Row{"of all, a name of the site's", "gold", {{}, {}}, "0 1 ", {}},
           Row{"of those visible", "h100", {{"0", "1", "2", "3"}, {}}, "0 2 ", {}},
           Row{"of Slurm's", "h100", {{"0", "1", "2"}, {1, 2, 0}}, "1 2 ", {}},
           Row{"a wrong one of Slurm's", "a100", {{"0", "1"}, {1, 2}}, "0 1 ", {2}},
           Row{"too few", "a100", {{}, {}, 4}, "", {0, 2}},
           Row{"not located", "a100", {{"0", "1"}, {}}, "0 1 ", {}},
       }) {
    CAPTURE(row.what);
    const PlacedRanks ranks = placed(node, row.type, row.asked);
    if (row.given[0] != '\0') CHECK(gpus_of(ranks) == row.given);
    const auto found = ranks.other_gpus.find("n0");
    CHECK((found == ranks.other_gpus.end() ? GpuNumbers{} : found->second) == row.other);
    CHECK(warns(ranks) == (row.type == std::string("gold")));
  }
}

TEST_CASE("GPUs that a launcher gave to each rank are compared as well") {
  topo::NodeTopology node = node_with({k_a100, k_h100});
  node.gpus[0].uuid = "GPU-a";
  node.gpus[1].uuid = "GPU-b";
  Plan plan;
  plan.ntasks_per_node = plan.world_size = plan.gpus_per_node = 2;
  plan.command = {"true"};
  const auto ranks = place_ranks(
      {{0, 2, 0, "n0", {"GPU-a"}}, {1, 2, 1, "n0", {"GPU-b"}}}, plan, {{"n0", node}}, "a100");
  REQUIRE(ranks);
  CHECK(ranks->other_gpus.at("n0") == GpuNumbers{1});
}

}  // namespace dts::plan
