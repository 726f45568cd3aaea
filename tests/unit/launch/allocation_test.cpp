// SPDX-License-Identifier: Apache-2.0
// What Slurm gave the job, and whether it matches the plan.
#include "core/launch/job/allocation.hpp"

#include "core/base/net/ephemeral_ports.hpp"
#include "tests/unit/launch/environment_of.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace {

using namespace dts;
using namespace dts::launch;

const Environment k_batch{{"SLURM_JOB_ID", "4711"},
                          {"SLURM_JOB_NODELIST", "n[1-2]"},
                          {"SLURM_TASKS_PER_NODE", "8(x2)"},
                          {"SLURMD_NODENAME", "n1"}};

Result<Allocation> allocation_with(const char* name, const char* value) {
  Environment variables = k_batch;
  if (value != nullptr)
    variables[name] = value;
  else
    variables.erase(name);
  return slurm_allocation(environment_of(variables));
}

plan::Plan a_plan(unsigned nodes, unsigned tasks) {
  plan::Plan plan;
  plan.nodes = nodes;
  plan.ntasks_per_node = tasks;
  plan.world_size = nodes * tasks;
  return plan;
}

}  // namespace

TEST_CASE("the allocation is read from the batch script's variables") {
  const auto allocation = slurm_allocation(environment_of(k_batch));
  REQUIRE(allocation);
  CHECK(allocation->job == JobId(4711));
  CHECK(allocation->restart_count == 0);
  CHECK(allocation->node == "n1");
  CHECK(allocation->nodes == std::vector<std::string>{"n1", "n2"});
  CHECK(allocation->tasks_per_node == std::vector<unsigned>{8, 8});
  CHECK(allocation_with("SLURM_RESTART_COUNT", "3")->restart_count == 3);
}

TEST_CASE("each variable is required and must be well-formed") {
  for (const char* name : {"SLURM_JOB_ID", "SLURM_JOB_NODELIST", "SLURM_TASKS_PER_NODE"})
    for (const char* value : std::vector<const char*>{nullptr, "", "x[", "-1", "n[3-"}) {
      CAPTURE(name);
      const auto allocation = allocation_with(name, value);
      REQUIRE_FALSE(allocation);
      CHECK(allocation.error().code == Errc::invalid);
      if (value == nullptr) CHECK(allocation.error().message == std::string(name) + " is not set");
    }
  CHECK_FALSE(allocation_with("SLURM_JOB_ID", "0"));
  CHECK_FALSE(allocation_with("SLURM_JOB_ID", "4294967296"));
  CHECK(allocation_with("SLURM_JOB_ID", "4294967293"));  // of a federation's 63rd cluster
}

TEST_CASE("an allocation that matches the plan passes") {
  CHECK(check_allocation(*slurm_allocation(environment_of(k_batch)), a_plan(2, 8)));
}

TEST_CASE("a different number of nodes or tasks is refused with both numbers") {
  const auto given = slurm_allocation(environment_of(k_batch)).value();
  const auto nodes = check_allocation(given, a_plan(3, 8));
  REQUIRE_FALSE(nodes);
  CHECK(nodes.error().message == "the job has 2 nodes (n1,n2), 3 were planned");
  const auto tasks = check_allocation(given, a_plan(2, 4));
  REQUIRE_FALSE(tasks);
  CHECK(tasks.error().message == "node n1 has 8 tasks, 4 were planned on each (the job's: 8,8)");
}

TEST_CASE("Slurm's 15 + 1 packing is refused, with the option that prevents it") {
  const auto packed =
      check_allocation(allocation_with("SLURM_TASKS_PER_NODE", "15,1").value(), a_plan(2, 8));
  REQUIRE_FALSE(packed);
  CHECK(packed.error().hint.find("--ntasks-per-node") != std::string::npos);
}

TEST_CASE("tasks that CR_Pack_Nodes packs have room for --ntasks-per-node on each node") {
  auto packed = environment_of(k_batch);
  const auto with = [&](const char* tasks, const char* most) {
    return slurm_allocation([=](const char* name) -> std::optional<std::string> {
      const std::string_view asked = name;
      if (asked == "SLURM_TASKS_PER_NODE") return tasks;
      if (asked == "SLURM_NTASKS_PER_NODE") return most;
      return packed(name);
    });
  };
  CHECK(check_allocation(with("15,1", "8").value(), a_plan(2, 8)));
  CHECK_FALSE(check_allocation(with("8,7", "8").value(), a_plan(2, 8)));
  CHECK_FALSE(check_allocation(with("15,1", "15").value(), a_plan(2, 8)));
}

TEST_CASE("uneven tasks are refused, naming the node with a different number") {
  const auto uneven =
      check_allocation(allocation_with("SLURM_TASKS_PER_NODE", "8,7").value(), a_plan(2, 8));
  REQUIRE_FALSE(uneven);
  CHECK(uneven.error().message == "node n2 has 7 tasks, 8 were planned on each (the job's: 8,7)");
}

TEST_CASE("there are as many task counts as nodes") {
  for (const char* tasks : {"8", "8(x3)"}) {
    const auto allocation = allocation_with("SLURM_TASKS_PER_NODE", tasks);
    REQUIRE_FALSE(allocation);
    CHECK(allocation.error().message.find("SLURM_JOB_NODELIST 2") != std::string::npos);
  }
}

TEST_CASE("a heterogeneous job is refused, not run on its first component") {
  const auto het = allocation_with("SLURM_HET_SIZE", "2");
  REQUIRE_FALSE(het);
  CHECK(het.error().code == Errc::invalid);
  CHECK(het.error().message.find("SLURM_HET_SIZE=2") != std::string::npos);
  CHECK(het.error().hint.find("heterogeneous = true") != std::string::npos);
  CHECK(allocation_with("SLURM_HET_SIZE", "1"));
}

TEST_CASE("the nodes of a heterogeneous job are those of its components, in their order") {
  Environment variables = k_batch;
  CHECK_FALSE(heterogeneous_allocation(environment_of(variables)));
  variables["SLURM_HET_SIZE"] = "2";
  variables["SLURM_JOB_NODELIST_HET_GROUP_0"] = "n7";
  const auto half = heterogeneous_allocation(environment_of(variables));
  REQUIRE_FALSE(half);
  CHECK(half.error().message == "SLURM_JOB_NODELIST_HET_GROUP_1 is not set");
  variables["SLURM_JOB_NODELIST_HET_GROUP_1"] = "n[1-2]";
  const auto allocation = heterogeneous_allocation(environment_of(variables));
  REQUIRE(allocation);
  CHECK(allocation->nodes == std::vector<std::string>{"n7", "n1", "n2"});
  CHECK(check_allocation(*allocation, a_plan(3, 8)));
  CHECK_FALSE(check_allocation(*allocation, a_plan(2, 8)));
}

TEST_CASE("an arbitrary distribution is refused only if Slurm hides the tasks per node") {
  Environment variables = k_batch;
  variables["SLURM_DISTRIBUTION"] = "arbitrary";
  variables["SLURM_HOSTFILE"] = "hosts";
  CHECK(slurm_allocation(environment_of(variables)));
  variables.erase("SLURM_TASKS_PER_NODE");
  const auto hidden = slurm_allocation(environment_of(variables));
  REQUIRE_FALSE(hidden);
  CHECK(hidden.error().message.find("SLURM_HOSTFILE=hosts") != std::string::npos);
  CHECK(hidden.error().hint.find("--ntasks-per-node") != std::string::npos);
}

TEST_CASE("without a scheduler the allocation is this machine, or the nodes of --hosts") {
  plan::Plan plan;
  const Allocation here = local_allocation(plan);
  CHECK(here.job.empty());
  CHECK(here.nodes == std::vector<std::string>{here.node});
  plan.hosts = {{"n1", 2}, {"n2", 4}};
  const Allocation hosts = local_allocation(plan);
  CHECK(hosts.node == here.node);
  CHECK(hosts.nodes == std::vector<std::string>{"n1", "n2"});
}

TEST_CASE("the kernel's ephemeral ports are a range") {
  const auto [low, high] = ephemeral_ports();
  CHECK(low > 0);
  CHECK(low < high);
  CHECK(high <= 65535);
}

TEST_CASE("spare nodes belong to the allocation") {
  Allocation given;
  given.nodes = {"n0", "n1", "n2"};
  given.tasks_per_node = {4, 4, 4};
  plan::Plan plan = a_plan(2, 4);
  CHECK_FALSE(check_allocation(given, plan));
  plan.spares = 1;
  CHECK(check_allocation(given, plan));
}

TEST_CASE("a task of a job array is identified by the array's id and its index") {
  Environment variables = k_batch;
  variables["SLURM_ARRAY_JOB_ID"] = "4700";
  variables["SLURM_ARRAY_TASK_ID"] = "3";
  CHECK(slurm_allocation(environment_of(variables))->job.text() == "4700_3");
  CHECK(own_job(environment_of(k_batch)).text() == "4711");
  CHECK(own_job(environment_of({})).empty());
}

TEST_CASE("an id that Slurm 26.05 prints as a negative number is corrected") {
  using Corrected = std::vector<std::pair<const char*, std::string>>;
  const auto corrected = corrected_job_ids(
      environment_of({{"SLURM_JOB_ID", "-2146913647"}, {"SLURM_JOBID", "-2147483648"}}));
  REQUIRE(corrected.size() == 2);
  CHECK(std::string(corrected[0].first) == "SLURM_JOB_ID");
  CHECK(corrected[0].second == "2148053649");
  CHECK(std::string(corrected[1].first) == "SLURM_JOBID");
  CHECK(corrected[1].second == "2147483648");
  CHECK(corrected_job_ids(environment_of(k_batch)) == Corrected());
  for (const char* strange : {"", "-", "-0", "-x", "-2147483649", "--1"})
    CHECK(corrected_job_ids(environment_of({{"SLURM_JOB_ID", strange}})) == Corrected());
}
