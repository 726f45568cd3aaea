// SPDX-License-Identifier: Apache-2.0
// Steps and roles of a job: what a part inherits from the job, what is its own, what is refused.
#include "core/spec/parts.hpp"

#include "core/spec/file/document.hpp"
#include "core/spec/file/read_keys.hpp"
#include "core/spec/json.hpp"
#include "core/spec/size.hpp"
#include "core/spec/validate.hpp"
#include "tests/support/contains.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <optional>

namespace dts::spec {
namespace {

using dts::tests::contains;

Result<JobSpec> read_job(const std::string& members) {
  return from_json(R"({"schema": "dtsubmit/spec/1", )" + members + "}", "job.json");
}

// As written by people: what a part omits is the job's.
std::optional<JobSpec> typed_job(const std::string& members) {
  Diagnostics problems;
  const auto document = parse_json("{" + members + "}", "job.json", problems);
  REQUIRE(document);
  JobSpec spec;
  read_keys(document->value(), "", reading_of(*document, Spelling::typed), spec, problems);
  settle_size(spec, problems);
  resolve_parts(spec, problems);
  CHECK_MESSAGE(problems.empty(), (problems.empty() ? "" : to_text(problems.front())));
  return spec;
}

// The problems of a job, one per line: of its syntax, otherwise of its content.
std::string problems_of(const std::string& members) {
  const auto spec = read_job(members);
  if (!spec) return spec.error().message;
  std::string text;
  for (const Diagnostic& problem : validate(*spec))
    text += problem.where + ": " + problem.message + "\n";
  return text;
}

constexpr const char* k_three = R"("nodes": 2, "launcher": "srun", "partition": "low", "steps": [
  {"name": "prep", "command": ["prep"], "nodes": 1, "time": "0:10:00"},
  {"name": "train", "command": ["train"], "gpus_per_node": 4, "launcher": "mpirun"},
  {"name": "evaluate", "command": ["evaluate", "all"]}])";

}  // namespace

TEST_CASE("a step inherits from the job what it omits") {
  const auto spec = typed_job(k_three);
  CHECK(is_composed(*spec));
  CHECK(validate(*spec).empty());
  const auto& steps = parts_of(*spec);
  REQUIRE(steps.size() == 3);
  CHECK(steps[0].name == "prep");
  CHECK(steps[0].time == std::chrono::minutes(10));
  CHECK(steps[0].job.nodes == 1);
  CHECK(steps[0].job.launcher == Launcher::srun);
  CHECK_FALSE(steps[0].job.time);
  CHECK(steps[1].job.nodes == 2);
  CHECK(steps[1].job.gpus_per_node == 4U);
  CHECK(steps[1].job.launcher == Launcher::mpirun);
  CHECK(steps[2].job.command == std::vector<std::string>{"evaluate", "all"});
  CHECK(steps[2].job.partition == "low");
  CHECK(words_of(*spec, steps[2]) == "step `evaluate`");
}

TEST_CASE("a size set in a step replaces the job's") {
  const auto spec = typed_job(R"("gpus_per_node": "a100:8", "ntasks_per_node": 8, "steps": [
    {"name": "prep", "command": ["prep"], "gpus_per_node": 0, "ntasks_per_node": 1},
    {"name": "few", "command": ["few"], "gres": "gpu:2"},
    {"name": "total", "command": ["total"], "nodes": 2, "gpus": 4, "ntasks": 4},
    {"name": "train", "command": ["train"]}])");
  const auto& steps = parts_of(*spec);
  REQUIRE(steps.size() == 4);
  CHECK(steps[0].job.gpus_per_node == 0U);
  CHECK(steps[0].job.gpu_type.empty());
  CHECK(steps[0].job.ntasks_per_node == 1U);
  CHECK(steps[1].job.gpus_per_node == 2U);
  CHECK(steps[1].job.gpu_type == "a100");
  CHECK(steps[1].job.ntasks_per_node == 8U);
  CHECK(steps[2].job.gpus_per_node == 2U);
  CHECK(steps[2].job.ntasks_per_node == 2U);
  CHECK(steps[3].job.gpus_per_node == 8U);
  CHECK(steps[3].job.gpu_type == "a100");
}

TEST_CASE(
    "ranks that a step gives in total are on as many of the job's nodes as share them evenly") {
  const auto spec = typed_job(R"("nodes": 4, "ntasks_per_node": 2, "steps": [
    {"name": "all", "command": ["a"], "ntasks": 8},
    {"name": "some", "command": ["a"], "ntasks": 6},
    {"name": "one", "command": ["a"], "ntasks": 1},
    {"name": "packed", "command": ["a"], "ntasks": 8, "ntasks_per_node": 8},
    {"name": "own", "command": ["a"], "ntasks": 8, "nodes": 2},
    {"name": "gpus", "command": ["a"], "ntasks": 4, "gpus": 2, "ntasks_per_gpu": 2}])");
  const auto& steps = parts_of(*spec);
  REQUIRE(steps.size() == 6);
  const std::vector<std::pair<unsigned, unsigned>> sizes{
      {4, 2}, {3, 2}, {1, 1}, {1, 8}, {2, 4}, {1, 4}};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    CAPTURE(steps[i].name);
    CHECK(steps[i].job.nodes == sizes[i].first);
    CHECK(steps[i].job.ntasks_per_node == sizes[i].second);
  }
}

TEST_CASE("an empty text or list in a step clears the job's value") {
  const auto spec = typed_job(
      R"("container": "/a.sif", "setup": ["ulimit -c 0"], "partition": "low", "signal_margin": "9", "steps": [
        {"name": "prep", "container": "", "setup": [], "gpus_per_node": 2, "command": ["a"]},
        {"name": "train", "command": ["b"]}])");
  const auto& steps = parts_of(*spec);
  CHECK(steps[0].job.container.image.empty());
  CHECK(steps[0].job.setup.empty());
  CHECK(steps[0].job.partition == "low");
  CHECK(steps[0].job.signal_margin == std::chrono::seconds(9));
  CHECK(steps[0].job.gpus_per_node == 2U);
  CHECK(steps[1].job.container.image == "/a.sif");
  CHECK(steps[1].job.setup.size() == 1);
}

TEST_CASE("a change of the job's options reaches parts that do not override it") {
  auto spec = typed_job(k_three);
  spec->nodes = 4;
  spec->preflight = std::chrono::seconds(7);
  Diagnostics problems;
  resolve_parts(*spec, problems);
  CHECK(problems.empty());
  CHECK(spec->steps[0].job.nodes == 1);
  CHECK(spec->steps[1].job.nodes == 4);
  CHECK(spec->steps[1].job.preflight == std::chrono::seconds(7));
}

TEST_CASE("steps and roles survive JSON") {
  for (const std::string& members :
       {std::string(R"("per_node": true, "container": "/image.sif", "steps": [
          {"name": "a", "command": ["s"], "per_node": false, "gpus_per_node": 0}])"),
        std::string(k_three),
        std::string(R"("spares": 1, "roles": [
          {"name": "server", "command": ["s"], "until": "others end", "time": "1-00:00:00"},
          {"name": "train", "command": ["t"], "nodes": 3, "on_failure": "alone",
           "waits_for": "server"}])"),
        std::string(R"("roles": [{"name": "serve", "command": ["s"], "nodes": 2},
          {"name": "train", "command": ["t"], "beside": "serve"},
          {"name": "one", "command": ["o"], "nodes": 1, "beside": "train",
           "on_failure": "none"}])")}) {
    const auto spec = typed_job(members);
    for (const Diagnostic& problem : validate(*spec)) FAIL_CHECK(to_text(problem));
    const std::string text = to_json(*spec);
    const auto back = from_json(text, "spec.json");
    REQUIRE(back);
    CHECK(to_json(*back) == text);
    REQUIRE(parts_of(*back).size() == parts_of(*spec).size());
    for (std::size_t i = 0; i < parts_of(*spec).size(); ++i) {
      CHECK(to_json(parts_of(*back)[i].job) == to_json(parts_of(*spec)[i].job));
      CHECK(parts_of(*back)[i].time == parts_of(*spec)[i].time);
      CHECK(parts_of(*back)[i].on_failure == parts_of(*spec)[i].on_failure);
      CHECK(parts_of(*back)[i].until_others_end == parts_of(*spec)[i].until_others_end);
      CHECK(parts_of(*back)[i].waits_for == parts_of(*spec)[i].waits_for);
      CHECK(parts_of(*back)[i].beside == parts_of(*spec)[i].beside);
    }
  }
}

TEST_CASE("the job's values for all parts are in the parts of a stored job, including numbers") {
  const auto typed = typed_job(
      R"("signal_margin": "9", "time": "2:00:00", "memory_mib": 64, "steps": [{"name": "prep", "command": ["a"]}])");
  const auto stored = from_json(to_json(*typed), "spec.json");
  REQUIRE(stored);
  const JobSpec& step = parts_of(*stored).at(0).job;
  CHECK(step.signal_margin == std::chrono::seconds(9));
  CHECK(step.time == std::chrono::hours(2));
  CHECK(step.memory_mib == 64U);
}

TEST_CASE("a role has one node unless specified otherwise, and the spares are the job's") {
  const auto spec = read_job(R"("nodes": 4, "spares": 2, "roles": [
    {"name": "a", "command": ["a"], "nodes": 3}, {"name": "b", "command": ["b"]}])");
  REQUIRE(spec);
  CHECK(spec->roles[0].job.nodes == 3);
  CHECK(spec->roles[1].job.nodes == 1);
  CHECK(spec->roles[0].job.spares == 0);
}

TEST_CASE("all mistakes in the parts of a file are reported at once, with their place") {
  const std::string text = problems_of(R"("steps": [
    {"name": "a", "command": ["a"], "partition": "low", "job_name": "x"},
    {"nam": "b", "on_failure": "all", "time": "soon", "steps": []},
    3])");
  for (const char* words : {"`partition` belongs to the whole job",
                            "a part is called by its `name`",
                            "unknown key `nam`",
                            "only a role has `on_failure`",
                            "`soon` is not a time",
                            "a part has no `steps`",
                            "expected an object"})
    CHECK(contains(text, words));
  CHECK(contains(problems_of(R"("steps": 7)"), "expected a list of objects"));
  CHECK(contains(problems_of(R"("roles": [{"name": "a", "until": "later"}])"), "others end"));
  CHECK(contains(problems_of(R"("roles": [{"name": "a", "on_failure": "no"}])"), "alone"));
  CHECK(contains(problems_of(R"("roles": [{"name": "a", "waits_for": 1}])"), "name of a role"));
  CHECK(contains(problems_of(R"("steps": [{"name": "a", "waits_for": "b"}])"), "only a role has"));
}

constexpr const char* k_het = R"("heterogeneous": true, "partition": "cpu", "mem": "1G",
  "constraint": "fast", "roles": [
  {"name": "server", "command": ["s"]},
  {"name": "train", "command": ["t"], "nodes": 4, "gpus_per_node": "a100:8", "partition": "gpu",
   "mem_per_gpu": "2G", "qos": "long"}])";

TEST_CASE("roles of a heterogeneous job request their own nodes, and inherit everything else") {
  const auto spec = typed_job(k_het);
  CHECK(validate(*spec).empty());
  const JobSpec& server = spec->roles[0].job;
  const JobSpec& train = spec->roles[1].job;
  CHECK(server.partition == "cpu");
  CHECK(server.memory_mib == 1024U);
  CHECK(train.partition == "gpu");
  CHECK_FALSE(train.memory_mib);  // another spelling replaces the job's
  CHECK(train.slurm.at("mem-per-gpu") == "2048M");
  CHECK(train.slurm.at("qos") == "long");
  CHECK(train.slurm.at("constraint") == "fast");
  CHECK_FALSE(train.heterogeneous);
  const auto back = from_json(to_json(*spec), "spec.json");
  REQUIRE(back);
  CHECK(back->heterogeneous);
  for (std::size_t i = 0; i < 2; ++i)
    CHECK(to_json(back->roles[i].job) == to_json(spec->roles[i].job));
}

TEST_CASE("an option for heterogeneous roles only is refused, naming the key that allows it") {
  Diagnostics problems;
  const auto document = parse_json(R"({"roles": [
    {"name": "a", "command": ["a"], "partition": "cpu", "mem": "1G"},
    {"name": "b", "command": ["b"]}]})",
                                   "job.json",
                                   problems);
  REQUIRE(document);
  JobSpec spec;
  read_keys(document->value(), "", reading_of(*document, Spelling::typed), spec, problems);
  resolve_parts(spec, problems);
  CHECK(problems.empty());
  const Diagnostics found = validate(spec);
  REQUIRE(found.size() == 1);
  CHECK(found[0].where == "role `a`");
  CHECK(found[0].message ==
        "`partition`, `mem`: roles share the nodes of one job, which are all alike");
  CHECK(contains(found[0].hint, "`heterogeneous = true`"));
  const char* const two = R"("roles": [{"name": "a", "command": ["a"]},
                                       {"name": "b", "command": ["b"]}])";
  const std::string het = R"("heterogeneous": true, )";
  CHECK(problems_of(het + two).empty());
  CHECK(contains(problems_of(het + R"("spares": 1, )" + two), "--spares: "));
  CHECK(contains(problems_of(het + R"("command": ["x"])"), "two roles or more"));
  CHECK(contains(problems_of(het + R"("steps": [{"name": "a", "command": ["a"]}])"),
                 "two roles or more"));
  CHECK(contains(problems_of(R"("roles": [{"name": "a", "command": ["a"], "requeue": true}])"),
                 "`requeue` belongs to the whole job"));
}

TEST_CASE("impossible parts are refused, each by name") {
  const std::string text = problems_of(R"("command": ["x"], "hosts": "n1", "steps": [
    {"name": "a", "command": ["a"], "nodes": 0},
    {"name": "A", "command": ["b"]},
    {"name": "../x", "command": ["c"]},
    {"name": "d"}], "roles": [])");
  for (const char* words : {"command: a job with steps or roles cannot have its own program",
                            "--hosts: steps and roles run in a Slurm job or on this machine only",
                            "step `a`: --nodes: at least 1, not 0",
                            "step `A`: its variables would be called as those of `a`",
                            "step `../x`: a name is 1 to 64 letters",
                            "step `d`: it has no command"})
    CHECK(contains(text, words));
  CHECK(contains(problems_of(R"("steps": [{"name": "a", "command": ["a"]}],
                                "roles": [{"name": "b", "command": ["b"]}])"),
                 "steps or roles, not both"));
  CHECK(
      contains(problems_of(R"("roles": [{"name": "b", "command": ["b"], "until": "others end"}])"),
               "each of them waits for the others"));
  for (const char* name : {"a", "b", "c"})
    CHECK(contains(problems_of(R"("roles": [{"name": "a", "command": ["a"], "waits_for": ")" +
                               std::string(name) + R"("}, {"name": "b", "command": ["b"]}])"),
                   "role `a`: it waits for `" + std::string(name) + "`, and no role before it"));
  std::string many;
  for (int i = 0; i < 100; ++i)
    many += std::string(i > 0 ? "," : "") + R"({"name": "s)" + std::to_string(i) +
            R"(", "command": ["x"]})";
  CHECK(contains(problems_of(R"("steps": [)" + many + "]"), "100, at most 99"));
}

TEST_CASE("a role beside another has its nodes, all of them unless it says fewer") {
  const auto spec = typed_job(R"("roles": [{"name": "a", "command": ["a"], "nodes": 3},
    {"name": "b", "command": ["b"], "beside": "a"},
    {"name": "c", "command": ["c"], "beside": "b", "nodes": 1}, {"name": "d", "command": ["d"]}])");
  CHECK(validate(*spec).empty());
  for (const auto& [index, host, nodes] : {std::tuple(0U, 0U, 3U),
                                           std::tuple(1U, 0U, 3U),
                                           std::tuple(2U, 0U, 1U),
                                           std::tuple(3U, 3U, 1U)}) {
    CHECK(host_of(spec->roles, index) == host);
    CHECK(spec->roles[index].job.nodes == nodes);
  }
  const auto problems = [](const std::string& job, const std::string& second) {
    return problems_of(job + R"("roles": [{"name": "a", "command": ["a"], "nodes": 2},
      {"name": "b", "command": ["b"], "beside": "a")" +
                       second + "}]");
  };
  CHECK(problems("", "").empty());
  CHECK(contains(problems("", R"(, "nodes": 3)"), "3 nodes, while `a` has 2"));
  CHECK(contains(problems(R"("spares": 1, )", ""), "role `b`: roles that share nodes cannot move"));
  CHECK(contains(problems(R"("heterogeneous": true, )", ""),
                 "role `b`: each role of a heterogeneous"));
  CHECK(contains(problems_of(R"("roles": [{"name": "a", "command": ["a"], "beside": "a"}])"),
                 "role `a`: it shares the nodes of `a`, and no role before it"));
  CHECK(contains(problems_of(R"("roles": [{"name": "a", "beside": 1}])"), "name of a role"));
  CHECK(contains(problems_of(R"("steps": [{"name": "a", "beside": "b"}])"), "only a role has"));
}

TEST_CASE("names of variables are derived from names of parts") {
  CHECK(variable_name("data-server.2") == "DATA_SERVER_2");
  CHECK(variable_name("prep") == "PREP");
}

}  // namespace dts::spec
