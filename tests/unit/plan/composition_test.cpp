// SPDX-License-Identifier: Apache-2.0
// The layout of a job of several programs.
#include "core/plan/composition.hpp"

#include "core/plan/layout/json.hpp"
#include "core/spec/json.hpp"
#include "tests/support/contains.hpp"

#include <doctest/doctest.h>

namespace dts::plan {
namespace {

using Names = std::vector<std::string>;

spec::JobSpec job_of(const std::string& members) {
  auto spec = spec::from_json(R"({"schema": "dtsubmit/spec/1", )" + members + "}", "job.json");
  REQUIRE(spec);
  return *std::move(spec);
}

Composition composed(const std::string& members) {
  auto made = make_composition(job_of(members), {}, "/trainer");
  REQUIRE(made);
  return *std::move(made);
}

constexpr const char* k_steps = R"("steps": [
  {"name": "prep", "command": ["a"], "ntasks_per_node": 8, "cpus_per_task": 4},
  {"name": "train", "command": ["b"], "nodes": 3, "gpus_per_node": 4, "cpus_per_task": 2},
  {"name": "evaluate", "command": ["c"]}])";

}  // namespace

TEST_CASE("the job of several steps has room for each of them") {
  const Composition made = composed(k_steps);
  CHECK(made.job.nodes == 3);
  CHECK(made.job.gpus_per_node == 4);
  CHECK(made.job.ntasks_per_node * made.job.cpus_per_task == 32);
  CHECK(made.job.ntasks_per_node <= 4);  // otherwise ranks of it would have no GPU
  CHECK(made.job.job_name == "prep-train-evaluate");
  REQUIRE(made.parts.size() == 3);
  CHECK(made.parts[0].world_size == 8);
  CHECK(made.parts[1].world_size == 12);
  CHECK(made.parts[2].world_size == 1);
  for (const Plan& part : made.parts) CHECK(part.spares == 0);
  for (const Plan& part : made.parts) CHECK(part.hides_gpus == (part.gpus_per_node == 0));
  CHECK(made.parts[0].hides_gpus);
  CHECK(plan_from_json(to_json(made.parts[0]))->hides_gpus);
  const Names all{"n0", "n1", "n2"};
  CHECK(nodes_of_part(made.parts, false, 0, all) == Names{"n0"});
  CHECK(nodes_of_part(made.parts, false, 1, all) == all);
  CHECK(nodes_of_part(made.parts, false, 2, all) == Names{"n0"});
}

TEST_CASE("a step named bash keeps its name, and its job is not named so") {
  const std::string step = R"("steps": [{"name": "bash", "command": ["a"]}])";
  CHECK(composed(step).job.job_name == "bash-job");
  CHECK(composed(step).parts[0].job_name == "bash");
  CHECK(composed(R"("job_name": "bash", )" + step).job.job_name == "bash");
}

TEST_CASE("with spares, each step may use any of the job's nodes") {
  const Composition made = composed(R"("spares": 1, )" + std::string(k_steps));
  CHECK(made.job.spares == 1);
  const Names all{"n0", "n1", "n2", "n3"};
  for (std::size_t i = 0; i < made.parts.size(); ++i) {
    CHECK(made.parts[i].nodes + made.parts[i].spares == 4);
    CHECK(nodes_of_part(made.parts, false, i, all) == all);
  }
}

TEST_CASE("roles add up, and do not share nodes") {
  const Composition made = composed(R"("spares": 1, "job_name": "both", "roles": [
    {"name": "server", "command": ["s"]},
    {"name": "train", "command": ["t"], "nodes": 2, "gpus_per_node": 8}])");
  CHECK(made.job.job_name == "both");
  CHECK(made.job.nodes == 3);
  CHECK(made.job.spares == 1);
  CHECK(made.parts[0].spares == 0);
  CHECK(made.parts[1].spares == 1);
  const Names all{"n0", "n1", "n2", "n3"};
  CHECK(nodes_of_part(made.parts, true, 0, all) == Names{"n0"});
  CHECK(nodes_of_part(made.parts, true, 1, all) == Names{"n1", "n2", "n3"});
  CHECK(nodes_of_part(made.parts, true, 1, {"n0"})
            .empty());  // fewer than planned: nothing is made up
}

constexpr const char* k_beside = R"("roles": [
    {"name": "serve", "command": ["s"], "nodes": 2, "gpus_per_node": 2, "cpus_per_task": 4},
    {"name": "train", "command": ["t"], "gpus_per_node": 6, "beside": "serve"},
    {"name": "watch", "command": ["w"], "nodes": 1, "beside": "train"},
    {"name": "score", "command": ["e"], "nodes": 3}])";

TEST_CASE("roles beside another share its nodes, which have what they need together") {
  ClusterView view;
  for (const char* name : {"n0", "n1", "n2", "n3", "n4"}) view.nodes.push_back({name, 64, 8});
  view.nodes.push_back({"small", 16, 2});
  view.partitions = {{"gpu", true, {"n0", "n1", "n2", "n3", "n4", "small"}}};
  const auto made = make_composition(job_of(k_beside), view, "/trainer");
  if (!made) FAIL(to_error(made.error()).message);
  CHECK(made->job.nodes == 5);
  CHECK(made->job.gpus_per_node == 8);
  const Plan& train = made->parts[1];
  CHECK(train.nodes == 2);
  CHECK(train.world_size == 12);
  // Of 64 CPUs, the server requests 8. The others get the rest: six weights of seven, and one.
  CHECK(train.cpus_per_task == 8);
  CHECK(made->parts[2].cpus_per_task == 8);
  REQUIRE(train.shared);
  CHECK(train.shared->cpus == std::vector<unsigned>{8, 48, 8});
  CHECK(train.shared->gpus == std::vector<unsigned>{2, 6, 0});
  CHECK(train.shared->own == 1);
  CHECK(train.shared->is_guest);
  CHECK_FALSE(made->parts[0].shared->is_guest);
  CHECK_FALSE(made->parts[3].shared);
  CHECK(made->parts[2].hides_gpus);
  const Names all{"n0", "n1", "n2", "n3", "n4"};
  CHECK(nodes_of_part(made->parts, true, 0, all) == Names{"n0", "n1"});
  CHECK(nodes_of_part(made->parts, true, 1, all) == Names{"n0", "n1"});
  CHECK(nodes_of_part(made->parts, true, 2, all) == Names{"n0"});
  CHECK(nodes_of_part(made->parts, true, 3, all) == Names{"n2", "n3", "n4"});
  const auto back = plan_from_json(to_json(train));
  REQUIRE(back);
  CHECK(to_json(*back) == to_json(train));
  for (const char* damage : {R"("own": 3)", R"("own": -1)"}) {
    std::string text = to_json(train);
    text.replace(text.find(R"("own": 1)"), 8, damage);
    CHECK_FALSE(plan_from_json(text));
  }
}

TEST_CASE("roles that share nodes and need more than a node has are refused") {
  ClusterView view;
  view.nodes = {{"n0", 64, 4}};
  view.partitions = {{"gpu", true, {"n0"}}};
  const auto made = make_composition(job_of(R"("roles": [
    {"name": "serve", "command": ["s"], "gpus_per_node": 2},
    {"name": "train", "command": ["t"], "gpus_per_node": 4, "beside": "serve"}])"),
                                     view,
                                     "/trainer");
  REQUIRE_FALSE(made);
  CHECK(tests::contains(to_error(made.error()).message,
                        "roles that share nodes: --gpus-per-node: 6 GPUs per node requested"));
  const auto cpus = make_composition(job_of(R"("roles": [
    {"name": "a", "command": ["a"], "cpus_per_task": 40},
    {"name": "b", "command": ["b"], "cpus_per_task": 40, "beside": "a"}])"),
                                     view,
                                     "/trainer");
  REQUIRE_FALSE(cpus);
  CHECK(tests::contains(to_error(cpus.error()).message, "80 CPUs per node requested"));
}

TEST_CASE("roles that fill a node of two threads per core fit on it") {
  ClusterView view;
  view.nodes = {{"n0", 8}};
  view.nodes[0].cpus_per_core = 2;
  view.partitions = {{"low", true, {"n0"}}};
  const auto of = [&](const std::string& a, const std::string& b, bool one_per_core = false) {
    view.one_rank_per_core = one_per_core;
    return make_composition(
        job_of(R"("roles": [{"name": "a", "command": ["a"])" + a +
               R"(}, {"name": "b", "command": ["b"], "beside": "a")" + b + "}]"),
        view,
        "/trainer");
  };
  for (const auto& [a, b] : {std::pair(R"(, "ntasks_per_node": 3)", R"(, "ntasks_per_node": 5)"),
                             std::pair("", R"(, "ntasks_per_node": 7)"),
                             std::pair(R"(, "cpus_per_task": 5)", R"(, "ntasks_per_node": 3)"),
                             std::pair(R"(, "cpus_per_task": 7)", ""),
                             std::pair(R"(, "cpus_per_task": 8)", "")}) {
    const std::string sizes = std::string(a) + " " + b;
    CAPTURE(sizes);
    const auto made = of(a, b);
    const bool is_full = sizes.find('8') != std::string::npos;
    REQUIRE(made.has_value() != is_full);
    if (made) CHECK(made->job.ntasks_per_node * made->job.cpus_per_task == 8);
  }
  const auto cores = of(R"(, "ntasks_per_node": 3, "cpus_per_task": 1)", "", true);
  REQUIRE(cores);
  CHECK(cores->job.ntasks_per_node * cores->job.cpus_per_task == 8);
  CHECK_FALSE(of(R"(, "ntasks_per_node": 3)", R"(, "ntasks_per_node": 2)", true));
}

TEST_CASE("memory of the job is not compared with the CPUs of one role") {
  ClusterView view;
  view.nodes = {{"n0", 8, 0, 1000}};
  ClusterView::Partition low{"low", true, {"n0"}};
  low.memory = MemoryRules{};
  low.memory->max_per_cpu_mib = 100;
  view.partitions = {low};
  const auto made = make_composition(job_of(R"("memory_mib": 600, "roles": [
    {"name": "a", "command": ["a"]}, {"name": "b", "command": ["b"], "beside": "a"}])"),
                                     view,
                                     "/trainer");
  if (!made) FAIL(to_error(made.error()).message);
  CHECK(made->job.ntasks_per_node * made->job.cpus_per_task == 8);
}

TEST_CASE("roles of one node with GPUs of different types are refused") {
  const auto made = make_composition(job_of(R"("roles": [
    {"name": "a", "command": ["a"], "gpus_per_node": "a100:1"},
    {"name": "c", "command": ["c"], "beside": "a"},
    {"name": "b", "command": ["b"], "gpus_per_node": "l40s:1", "beside": "a"}])"),
                                     {},
                                     "/trainer");
  REQUIRE_FALSE(made);
  CHECK(made.error().size() == 1);
  CHECK(tests::contains(to_error(made.error()).message, "role `b`: its GPUs are of another type"));
}

TEST_CASE("without knowledge of the nodes, roles beside each other add up") {
  const Composition made = composed(R"("roles": [
    {"name": "a", "command": ["a"], "cpus_per_task": 4},
    {"name": "b", "command": ["b"], "cpus_per_task": 2, "ntasks_per_node": 2, "beside": "a"}])");
  CHECK(made.job.nodes == 1);
  CHECK(made.parts[0].ntasks_per_node == 1);
  CHECK(made.job.ntasks_per_node * made.job.cpus_per_task == 8);
  const Composition workers = composed(R"("roles": [
    {"name": "a", "command": ["a"], "gpus_per_node": 2},
    {"name": "b", "command": ["torchrun", "b.py"], "gpus_per_node": 6, "beside": "a"}])");
  CHECK(workers.parts[1].shared->cpus == std::vector<unsigned>{2, 6});
}

TEST_CASE("on one machine, all roles have GPUs of their own, and share the cores") {
  Composition made = composed(R"("roles": [
    {"name": "a", "command": ["a"], "gpus_per_node": 1},
    {"name": "b", "command": ["b"], "gpus_per_node": 2}, {"name": "c", "command": ["c"]}])");
  put_on_one_machine(made);
  for (unsigned i = 0; i < 3; ++i) {
    REQUIRE(made.parts[i].shared);
    CHECK(made.parts[i].shared->own == i);
    CHECK(made.parts[i].shared->gpus == std::vector<unsigned>{1, 2, 0});
    CHECK(made.parts[i].shared->cpus.empty());
    CHECK(plan_from_json(to_json(made.parts[i])));
  }
}

TEST_CASE("roles of a heterogeneous job are its components") {
  const Composition made = composed(R"("heterogeneous": true, "roles": [
    {"name": "server", "command": ["s"], "partition": "cpu"},
    {"name": "train", "command": ["t"], "nodes": 2, "gpus_per_node": 8, "partition": "gpu"}])");
  CHECK(made.job.nodes == 3);
  CHECK_FALSE(made.job.component);
  CHECK(made.parts[0].component == 0U);
  CHECK(made.parts[0].gpus_per_node == 0);
  CHECK(made.parts[1].component == 1U);
  const auto back = plan_from_json(to_json(made.parts[1]));
  REQUIRE(back);
  CHECK(back->component == 1U);
  CHECK_FALSE(plan_from_json(to_json(made.job))->component);
}

TEST_CASE("what a partition demands of a job, its parts have together") {
  ClusterView view;
  view.nodes = {{"n0", 8}, {"n1", 8}};
  ClusterView::Partition low{"low", true, {"n0", "n1"}};
  low.min_nodes = 2;
  JobLimit least;
  least.of = JobLimit::Of::nodes;
  least.is_least = true;
  least.amount = 2;
  low.limits = {least};
  view.partitions = {low};
  const std::string roles = R"("roles": [{"name": "a", "command": ["a"]},
    {"name": "b", "command": ["b"]}])";
  const auto made = make_composition(job_of(roles), view, "/trainer");
  if (!made) FAIL(to_error(made.error()).message);
  CHECK_FALSE(make_composition(job_of(R"("heterogeneous": true, )" + roles), view, "/trainer"));
  CHECK_FALSE(
      make_composition(job_of(R"("steps": [{"name": "a", "command": ["a"]}])"), view, "/trainer"));
}

TEST_CASE("problems of several parts are reported at once, by name") {
  const auto made = make_composition(job_of(R"("nodes": 9, "roles": [
    {"name": "a", "command": ["a"], "gpus_per_node": 1, "ntasks_per_node": 2},
    {"name": "b", "command": ["b"], "cpus_per_gpu": 2}])"),
                                     {},
                                     "/trainer");
  REQUIRE_FALSE(made);
  std::string text;
  for (const Diagnostic& problem : made.error())
    text += problem.where + ": " + problem.message + "\n";
  CHECK(tests::contains(text, "role `a`: --ntasks-per-node: 2 ranks per node for 1 GPU"));
  CHECK(tests::contains(text, "role `b`: --cpus-per-gpu: the job has no GPUs"));
  const auto sum = make_composition(
      job_of(R"("nodes": 9, "roles": [{"name": "a", "command": ["a"]}])"), {}, "/trainer");
  REQUIRE_FALSE(sum);
  CHECK(sum.error().front().message == "9, but the roles have 1 together");
}

}  // namespace dts::plan
