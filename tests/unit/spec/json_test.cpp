// SPDX-License-Identifier: Apache-2.0
// spec.json: what is written is read back, and mistakes are named with their place.
#include "core/spec/json.hpp"

#include "core/spec/file/document.hpp"
#include "core/spec/validate.hpp"
#include "tests/support/contains.hpp"

#include <doctest/doctest.h>

namespace dts::spec {
namespace {

using dts::tests::contains;

std::string complaint(const std::string& text) {
  const auto spec = from_json(text, "job.json");
  REQUIRE_FALSE(spec);
  CHECK(spec.error().code == Errc::invalid);
  return spec.error().message + " / " + spec.error().hint;
}

// A spec file with one more member.
std::string with(const std::string& member) {
  return R"({"schema": "dtsubmit/spec/1", )" + member + "}";
}

}  // namespace

TEST_CASE("arguments are bytes, and survive their JSON") {
  JobSpec spec;
  spec.command = {"cat", "r\xe9sultat.txt", std::string("\xff\xfe\x01"), "caf\xc3\xa9", ""};
  CHECK(validate(spec).empty());
  const std::string text = to_json(spec);
  CHECK(contains(text, R"("hex": "72e973756c7461742e747874")"));
  const auto back = from_json(text, "spec.json");
  REQUIRE(back);
  CHECK(back->command == spec.command);
  for (const char* wrong :
       {R"({"hex": "a"})", R"({"hex": "zz"})", R"({"hex": "00"})", R"({"x": 1})", "7"})
    CHECK(
        contains(complaint(with(R"("command": [)" + std::string(wrong) + "]")), "expected a list"));
}

TEST_CASE("a full spec survives JSON") {
  JobSpec spec;
  spec.job_name = "train";
  spec.nodes = 2;
  spec.gpus_per_node = 8;
  spec.ntasks_per_node = 8;
  spec.cpus_per_task = 4;
  spec.partition = "low";
  spec.slurm["account"] = "a\"c\\c";
  spec.slurm["qos"] = "h\xc3\xa9";
  spec.time = std::chrono::seconds(90061);
  spec.memory_mib = 0;
  spec.requeue = false;
  spec.signal_margin = std::chrono::seconds(0);
  spec.stop_signal = 10;
  spec.frameworks = {"jax"};
  spec.bind = *parse_bind("spread");
  spec.smt = 1;
  spec.cores_per_rank = 6;
  spec.bind_threads = "gnu";
  spec.start_timeout = std::chrono::seconds(600);
  spec.exclude = "n[1-2]";
  spec.spares = 1;
  spec.preflight = std::chrono::seconds(3);
  spec.log_timestamps = true;
  spec.strict_binding = true;
  spec.command = {"python3", "-c", "print('a\\n\tb')", ""};
  const std::string text = to_json(spec);
  const auto back = from_json(text, "x");
  REQUIRE(back);
  CHECK(to_json(*back) == text);
  CHECK(back->time == spec.time);
  CHECK(back->memory_mib == 0U);
  CHECK(back->requeue == false);
  CHECK(back->command == spec.command);
  CHECK(back->slurm == spec.slurm);
  CHECK(back->frameworks == spec.frameworks);
  CHECK(back->bind.policy == BindPolicy::spread);
  CHECK(back->smt == 1);
  CHECK(back->cores_per_rank == 6);
  CHECK(back->bind_threads == "gnu");
  spec.frameworks.clear();
  CHECK(from_json(to_json(spec), "x")->frameworks.empty());
}

TEST_CASE("--hosts survives JSON, and is absent unless requested") {
  JobSpec spec;
  CHECK_FALSE(contains(to_json(spec), "hosts"));
  spec.hosts = "n[1-2]:4";
  spec.ssh_command = "ssh -p 2222";
  const auto back = from_json(to_json(spec), "job.json");
  REQUIRE(back);
  CHECK(back->hosts == spec.hosts);
  CHECK(back->ssh_command == spec.ssh_command);
}

TEST_CASE("absent stays absent, unlimited stays unlimited") {
  JobSpec spec;
  CHECK_FALSE(from_json(to_json(spec), "x")->gpus_per_node.has_value());
  CHECK_FALSE(from_json(to_json(spec), "x")->time.has_value());
  CHECK(from_json(with(R"("nodes": 3)"), "x")->frameworks == all_frameworks());
  spec.time = std::chrono::seconds::max();
  CHECK(from_json(to_json(spec), "x")->time == std::chrono::seconds::max());
  CHECK(from_json(with(R"("nodes": 3)"), "x")->signal_margin == JobSpec{}.signal_margin);
}

TEST_CASE("a command of many short arguments is read back") {
  JobSpec spec;
  spec.command.assign(100'000, "12345");
  const std::string text = to_json(spec);
  CHECK(text.size() > k_most_bytes);
  const auto back = from_json(text, "spec.json");
  REQUIRE(back);
  CHECK(back->command == spec.command);
}

TEST_CASE("text that is not JSON is named by file, line and column, with a caret") {
  const std::string text = complaint("{\n  \"schema\": \"dtsubmit/spec/1\",\n  \"nodes\": 2x\n}");
  CHECK(contains(text, "job.json:3:13: not JSON"));
  CHECK(contains(text, "    |   \"nodes\": 2x\n    |             ^"));
  CHECK(contains(complaint(""), "job.json:1:1"));
  CHECK(contains(complaint("{\"a\": \"\xff\"}"), "job.json:1:8"));
  CHECK(contains(complaint("[1e999]"), "not JSON"));
}

TEST_CASE("every problem is named with its place, all at once") {
  const std::string text = complaint(with(
      R"("nodes": -1, "partition": 7, "time": "soon", "requeue": "yes", "command": ["a", 1])"));
  CHECK(contains(text, "job.json:1:40: nodes: expected a whole number of 0 to 4294967295"));
  CHECK(contains(text, "job.json:1:57: partition: expected a string"));
  CHECK(contains(text, "job.json:1:68: time: `soon` is not a time"));
  CHECK(contains(text, "job.json:1:87: requeue: expected true or false"));
  CHECK(contains(text, "job.json:1:105: command: expected a list of strings"));
  CHECK(contains(text, "5 problems"));
}

TEST_CASE("numbers that do not fit are refused, not truncated") {
  for (const char* member : {R"("nodes": 4294967296)",
                             R"("nodes": 2.0)",
                             R"("nodes": null)",
                             R"("stop_signal": 2147483648)",
                             R"("signal_margin": -5)",
                             R"("memory_mib": 1.5)"})
    CHECK(contains(complaint(with(member)), "expected a whole number"));
}

TEST_CASE("an unknown key is refused with the nearest known one") {
  CHECK(contains(complaint(with(R"("gpus_per_nod": 8)")), "unknown key `gpus_per_nod`"));
  CHECK(contains(complaint(with(R"("gpus_per_nod": 8)")), "help: did you mean `gpus_per_node`?"));
  CHECK(contains(complaint(with(R"("zzzzzzzz": 8)")), "dtsubmit-jobfile(5) lists the keys"));
  CHECK(contains(complaint(with(R"("nodes": 1, "nodes": 2)")), "key `nodes` is given twice"));
}

TEST_CASE("a different schema, or none, is refused") {
  CHECK(contains(complaint("{}"), "no \"schema\""));
  CHECK(contains(complaint(R"({"schema": "dtsubmit/spec/2"})"),
                 "schema: expected \"dtsubmit/spec/1\""));
  CHECK(contains(complaint("[]"), "expected an object"));
}

TEST_CASE("comments and lines before a value do not change its place") {
  const std::string text = complaint(
      "{\n  // a \"comment\" { [\n\t\"schema\": /* , : */ \"dtsubmit/spec/1\",\n"
      "  \"slurm\": {\"zoo\": [1, 2.5 ,3]}, \"job_name\": \"\u00e9\", \"nodes\":-1}");
  CHECK(contains(text, "job.json:4:20: slurm.zoo: expected a string"));
  CHECK(contains(text, "job.json:4:59: nodes: expected a whole number"));
  CHECK(contains(complaint(with("\"nodes\": 1,\n \"a/b~\": 1,\n\n \"nodes\": 2")),
                 "job.json:4:2: key `nodes` is given twice"));
}

TEST_CASE("bombs are refused before they are built") {
  CHECK(contains(complaint(std::string(500000, '[')), "job.json:1:17: nested deeper than 16"));
  CHECK(contains(complaint(std::string(20000000, ' ')), "20000000 bytes"));
  // Brackets inside a text do not count as nesting.
  CHECK(from_json(with("\"command\": [\"" + std::string(1000, '[') + "\"]"), "x"));
}

TEST_CASE("validate rejects what no cluster can run") {
  JobSpec spec;
  CHECK(validate(spec).empty());
  spec.command = {"a", "b\nc\td"};
  CHECK(validate(spec).empty());
  spec.command = {"a", std::string("b\0c", 3)};
  CHECK(validate(spec).size() == 1);
  for (const char* bad :
       {"\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\x80", "\xfe"}) {
    spec.command = {"a", bad};
    CHECK(validate(spec).empty());  // an argument is bytes, a partition's name is text
    spec.partition = bad;
    CHECK(validate(spec).size() == 1);
    spec.partition.clear();
  }
  spec = {};
  spec.nodes = 70000;
  spec.gpus_per_node = 0;
  spec.slurm["qos"] = std::string(1025, 'q');
  spec.signal_margin = std::chrono::seconds(-1);
  CHECK(validate(spec).size() == 3);
}

TEST_CASE("validate knows the frameworks, and says where a library built on one belongs") {
  JobSpec spec;
  spec.frameworks = {"torch", "deepspeed", "tensorflwo"};
  spec.bind_threads = "llvm";
  const Diagnostics problems = validate(spec);
  REQUIRE(problems.size() == 3);
  CHECK(problems[0].message == "`deepspeed` is not known");
  CHECK(problems[0].hint == "it reads the variables of torch");
  CHECK(problems[1].hint == "all, none, or a list of torch, tensorflow, jax, horovod, sagemaker");
  CHECK(problems[2].message == "must be none, auto, gnu or intel");
  spec.frameworks.clear();
  for (const char* runtime : {"none", "auto", "gnu", "intel"}) {
    spec.bind_threads = runtime;
    CHECK(validate(spec).empty());
  }
}

}  // namespace dts::spec
