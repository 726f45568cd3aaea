// SPDX-License-Identifier: Apache-2.0
// What the agent of a part and its programs learn: their share of the nodes, and the others.
#include "core/launch/agent/part_variables.hpp"

#include "core/base/text/text.hpp"
#include "core/launch/agent/component.hpp"
#include "core/launch/job/allocation.hpp"

#include <doctest/doctest.h>

#include <map>
#include <optional>
#include <set>

namespace dts::launch {
namespace {

std::map<std::string, std::string> as_map(const Variables& variables) {
  return {variables.begin(), variables.end()};
}

plan::Plan plan_of(unsigned nodes, unsigned tasks, unsigned gpus) {
  plan::Plan plan;
  plan.nodes = nodes;
  plan.ntasks_per_node = tasks;
  plan.gpus_per_node = gpus;
  return plan;
}

}  // namespace

TEST_CASE("a part's agent sees a job with its own nodes only") {
  plan::Plan plan = plan_of(2, 3, 4);
  plan.shared = plan::SharedNodes{.own = 0, .cpus = {3, 3}, .gpus = {4, 2}};
  CHECK(as_map(variables_of_share({"n1"}, plan, "a100"))["SLURM_GPUS_PER_NODE"] == "a100:6");
  plan.shared.reset();
  auto variables = as_map(variables_of_share({"n1", "n3"}, plan, "a100"));
  CHECK(variables["SLURM_TASKS_PER_NODE"] == "3(x2)");
  CHECK(variables["SLURM_NTASKS"] == "6");
  CHECK(variables["SLURM_GPUS_PER_NODE"] == "a100:4");
  variables["SLURM_JOB_ID"] = "7";
  const auto allocation = slurm_allocation([&](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
  REQUIRE(allocation);
  CHECK(allocation->nodes == std::vector<std::string>{"n1", "n3"});
  CHECK(check_allocation(*allocation, plan));
  const auto alone = as_map(variables_of_share({"n1"}, plan_of(1, 1, 0), ""));
  CHECK(alone.at("SLURM_TASKS_PER_NODE") == "1");
  CHECK(alone.at("SLURM_GPUS_PER_NODE").empty());
}

TEST_CASE("a component of a heterogeneous job looks like a separate job") {
  using Entries = std::vector<std::string>;
  const Entries batch{"PATH=/bin",
                      "CUDA_VISIBLE_DEVICES=0,1",
                      "SLURM_HET_SIZE=2",
                      "SLURM_JOB_GPUS=0,1",
                      "SLURM_JOB_ID=7",
                      "SLURM_JOB_ID_HET_GROUP_0=7",
                      "SLURM_JOB_ID_HET_GROUP_1=8",
                      "SLURM_JOB_NODELIST=n0",
                      "SLURM_JOB_NODELIST_HET_GROUP_0=n0",
                      "SLURM_JOB_NODELIST_HET_GROUP_1=n[1-2]",
                      "SLURM_JOB_NODELIST_PACK_GROUP_1=n[1-2]",
                      "SLURM_MEM_PER_NODE=100",
                      "SLURM_MEM_PER_NODE_HET_GROUP_0=100",
                      "ODD_HET_GROUP_x=1"};
  CHECK(environment_of_component(batch, 0) == Entries{"PATH=/bin",
                                                      "CUDA_VISIBLE_DEVICES=0,1",
                                                      "SLURM_JOB_GPUS=0,1",
                                                      "SLURM_JOB_ID=7",
                                                      "ODD_HET_GROUP_x=1",
                                                      "SLURM_JOB_NODELIST=n0",
                                                      "SLURM_MEM_PER_NODE=100"});
  CHECK(environment_of_component(batch, 1) ==
        Entries{"PATH=/bin", "SLURM_JOB_ID=7", "ODD_HET_GROUP_x=1", "SLURM_JOB_NODELIST=n[1-2]"});
  // The user's own choice, which Slurm does not set.
  CHECK(environment_of_component({"CUDA_VISIBLE_DEVICES=3"}, 1) ==
        Entries{"CUDA_VISIBLE_DEVICES=3"});
}

TEST_CASE("steps know each other's folders, roles each other's nodes, addresses and ports") {
  const std::vector<PartPlace> places{{"prep", "/r/steps/1-prep", {"n0"}, 0},
                                      {"train-b", "/r/steps/2-train-b", {"n0", "n1"}, 4242}};
  const auto steps = as_map(part_variables({"/r"}, false, places, {}));
  CHECK(steps.size() == 4);
  CHECK(parse_number(steps.at("DTSUBMIT_RUN_BEGAN")).has_value());  // now: there is no attempt yet
  CHECK(steps.at("DTSUBMIT_JOB_DIR") == "/r");
  CHECK(steps.at("DTSUBMIT_STEP_TRAIN_B_DIR") == "/r/steps/2-train-b");
  const auto roles = as_map(part_variables({"/r"}, true, places, {{"n0", "10.0.0.1"}}));
  CHECK(roles.at("DTSUBMIT_ROLE_TRAIN_B_NODES") == "n0,n1");
  CHECK(roles.at("DTSUBMIT_ROLE_TRAIN_B_ADDR") == "10.0.0.1");
  CHECK(roles.at("DTSUBMIT_ROLE_TRAIN_B_PORT") == "4242");
  CHECK(roles.count("DTSUBMIT_ROLE_PREP_PORT") == 0);
  CHECK(part_variables({"/r"}, true, places, {})[4].second == "n0");
}

TEST_CASE("each role has its own port") {
  std::vector<PartPlace> places;
  for (int i = 0; i < 20; ++i) places.push_back({"role-" + std::to_string(i), "/r", {"n0"}, 0});
  choose_ports("/r", 1, places);
  std::set<unsigned> ports;
  for (const PartPlace& place : places) ports.insert(place.port);
  CHECK(ports.size() == places.size());
  CHECK(ports.count(0) == 0);
}

}  // namespace dts::launch
