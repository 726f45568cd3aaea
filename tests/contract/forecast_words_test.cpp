// SPDX-License-Identifier: Apache-2.0
// Output of sbatch --test-only, in each of its releases' forms, and weights for billing.
#include "plugins/slurm_shared/alternatives.hpp"
#include "plugins/slurm_shared/billing.hpp"
#include "plugins/slurm_shared/expectation.hpp"
#include "plugins/slurm_shared/named_cluster.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <map>
#include <string>

using namespace slurm_plugin;
using nlohmann::json;

TEST_CASE("an expected start is read, with the jobs that it would preempt") {
  const auto read = parse_expectation(
      "sbatch: Job 7 to start at 1764072000 using 8 processors on nodes n[1-2] in partition main\n"
      "sbatch:   Preempts: 5,6\n");
  REQUIRE(read.has_value());
  CHECK(read->start_time == 1'764'072'000);
  CHECK(read->processors == 8);
  CHECK(read->nodes == "n[1-2]");
  CHECK(read->partition == "main");
  CHECK(read->preempted == std::vector<std::string>{"5", "6"});
  const json reply = reply_of(*read, read->start_time - 60);
  CHECK(reply["preempted"].size() == 2);
  CHECK(reply["start_time"] == 1'764'072'000);
  // Behind a job without a limit, or in a partition that is down, where Slurm 22.05 says 2707.
  CHECK(reply_of(*read, read->start_time - 31'535'000)["start_time"] == 0);
}

TEST_CASE("a heterogeneous job and a federation's cluster are said in other words") {
  const auto het =
      parse_expectation("Job 7 to start at 1764072000 using 8 processors on n[1-2],m1");
  REQUIRE(het.has_value());
  CHECK(het->nodes == "n[1-2],m1");
  CHECK(het->partition.empty());
  const auto other = parse_expectation(
      "Job 7 to start at 1764072000 on cluster far a using 4 processors on nodes n1 in partition "
      "p");
  REQUIRE(other.has_value());
  CHECK(other->nodes == "n1");
  CHECK(other->processors == 4);
  CHECK(other->partition == "p");
}

TEST_CASE("a time may be one of the local zone, and what a site says first does not count") {
  const auto read = parse_expectation(
      "sbatch: jobs like Job 1 to start at noon wait long\n"
      "sbatch: Job 7 to start at 2026-11-25T12:00:00 using 8 processors on nodes n1 in partition "
      "p\n");
  REQUIRE(read.has_value());
  CHECK(read->start_time > 1'700'000'000);
  CHECK_FALSE(parse_expectation("").has_value());
  CHECK_FALSE(parse_expectation("Job 7 to start at noon").has_value());
  CHECK_FALSE(parse_expectation("Job 7 to start at ").has_value());
  CHECK_FALSE(parse_expectation("allocation failure: Invalid qos specification").has_value());
}

TEST_CASE("a cluster that the environment names for sbatch is not taken for this one") {
  const auto fails = [](std::map<std::string, std::string> variables) {
    const auto variable = [&](const char* name) {
      const auto found = variables.find(name);
      return found == variables.end() ? nullptr : found->second.c_str();
    };
    return !check_named_cluster(variable, "here").has_value();
  };
  CHECK_FALSE(fails({}));
  CHECK_FALSE(fails({{"SLURM_CLUSTERS", ""}}));
  CHECK_FALSE(fails({{"SLURM_CLUSTERS", "there, Here"}}));
  CHECK_FALSE(fails({{"SLURM_CLUSTERS", "all"}}));
  CHECK_FALSE(fails({{"SLURM_CLUSTERS", "there"}, {"SBATCH_CLUSTERS", "here"}}));
  CHECK_FALSE(fails({{"SLURM_CLUSTERS", "there"}, {"SLURM_JOB_ID", "7"}}));
  CHECK(fails({{"SLURM_CLUSTERS", "there"}}));
  CHECK(fails({{"SBATCH_CLUSTERS", "there"}, {"SLURM_CLUSTERS", "here"}}));
}

TEST_CASE("weights are read with their units") {
  const json billing = billing_json("CPU=1.0,Mem=0.25G,GRES/gpu=2.5,GRES/gpu:a100=4,Node=3");
  CHECK(billing["cpu"] == 1.0);
  CHECK(billing["memory_mib"] == 0.25 / 1024);
  CHECK(billing["gpu"] == 2.5);
  CHECK(billing["gpu_types"]["a100"] == 4.0);
  CHECK(billing["node"] == 3.0);
  CHECK_FALSE(billing.contains("others"));
  CHECK(billing_json("mem=.5")["memory_mib"] == 0.5);
  CHECK(billing_json("mem=1t")["memory_mib"] == 1.0 / 1024 / 1024);
  CHECK(billing_json("mem=2M")["memory_mib"] == 2.0);
  CHECK(billing_json("mem=2K")["memory_mib"] == 2.0);  // Slurm only converts to larger units
}

TEST_CASE("what has no weight of ours is listed, and no weights are none") {
  CHECK(billing_json("CPU=1,license/x=2,cpu=,=,gres/gpu=oops")["others"].size() == 4);
  CHECK(billing_json("").is_null());
  CHECK(billing_json("(null)").is_null());
}

TEST_CASE("the rule of billing is one of PriorityFlags") {
  CHECK(billing_rule("") == std::string("sum"));
  CHECK(billing_rule("ACCRUE_ALWAYS,MAX_TRES") == std::string("largest"));
  CHECK(billing_rule("MAX_TRES_GRES") == std::string("largest_and_gpus"));
}

TEST_CASE("a job starts where the first of its alternatives lets it start") {
  constexpr std::int64_t k_now = 1'000;
  const auto start_of = [&](const json& options, const std::map<std::string, int>& starts) {
    const auto reply =
        earliest_start({{"options", options}}, k_now, [&](const json& request) -> Outcome<json> {
          const json& given = request["options"];
          const auto start =
              starts.find(given.value("constraint", "") + "/" + given.value("switches", ""));
          if (start == starts.end()) return failed("rejected", "never");
          return json{{"start_time", start->second}};
        });
    return reply ? (*reply)["start_time"].get<int>() : 0;
  };
  const json racks = {{"constraint", "[r1|r2]"}};
  CHECK(start_of(json::object(), {{"/", 1'000}}) == 1'000);
  CHECK(start_of(racks, {{"[r1|r2]/", 1'000}, {"r1/", 1'900}, {"r2/", 1'500}}) == 1'500);
  CHECK(start_of(racks, {{"[r1|r2]/", 1'000}, {"r1/", 1'900}}) == 1'900);
  CHECK(start_of(racks, {{"[r1|r2]/", 1'000}}) == 0);
  CHECK(start_of(racks, {{"r1/", 1'900}}) == 0);  // one of the features does not exist
  for (const char* other : {"r1|r2", "[r1*2&r2*2]", "[r1]", "[(r1&x)|r2]"})
    CHECK(start_of({{"constraint", other}}, {{std::string(other) + "/", 1'000}}) == 1'000);
  CHECK(start_of({{"switches", "1"}}, {{"/65535", 1'000}}) == 1'300);
  CHECK(start_of({{"switches", "1@0:30"}}, {{"/65535", 1'000}}) == 1'030);
  CHECK(start_of({{"switches", "1@2:00:00"}}, {{"/65535", 1'000}}) == 1'300);
  CHECK(start_of({{"switches", "1"}}, {{"/65535", 1'000}, {"/1", 1'100}}) == 1'100);
  CHECK(start_of({{"switches", "1"}}, {{"/65535", 2'000}, {"/1", 2'500}}) == 2'000);
  CHECK(start_of({{"switches", "1"}}, {}) == 0);
}
