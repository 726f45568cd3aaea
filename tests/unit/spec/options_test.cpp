// SPDX-License-Identifier: Apache-2.0
// The table of options: input reaches the spec, survives spec.json, and is checked.
#include "core/base/text/text.hpp"
#include "core/spec/json.hpp"
#include "core/spec/option.hpp"
#include "core/spec/validate.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <map>
#include <set>

namespace dts::spec {
namespace {

const Option& option(const std::string& long_name) {
  for (const Option& row : options())
    if (row.long_name() == long_name) return row;
  FAIL("no option " << long_name);
  return options().front();
}

// A valid value of each type that differs from every default.
const std::map<std::string, std::string> k_examples = {{"", ""},
                                                       {"N", "7"},
                                                       {"NAME", "auto"},
                                                       {"LENGTH", "77"},
                                                       {"WHEN", "77"},
                                                       {"CAUSE=ACTION[:N],...", "crash=stop"},
                                                       {"TIME", "1:17:00"},
                                                       {"SIG", "USR1"},
                                                       {"SIG[@SEC]", "USR2@7"},
                                                       {"LIST", "jax"},
                                                       {"POLICY", "spread"},
                                                       {"WORDS", "ssh -v"},
                                                       {"SIZE", "17G"},
                                                       {"IMAGE", "/images/a.sif"},
                                                       {"RUNTIME", "podman"},
                                                       {"SRC[:DST[:ro]]", "/a:/b:ro"},
                                                       {"NAME[=VALUE]", "A=b=c"},
                                                       {"NAME,...", "gcc/12"},
                                                       {"ENV", "ml"},
                                                       {"FOLDER", "/venvs/a b"},
                                                       {"SRC[:DST]", "/data:images"},
                                                       {"FILE|LINE", "export A='b'"},
                                                       {"NAME=VALUE", "nofile=65536"},
                                                       {"MODE", "027"},
                                                       {"TEXT", "a b"},
                                                       {"[TYPE:]N", "a100:7"},
                                                       {"N[@TIME]", "1@10:00"},
                                                       {"MINUTES", "7"},
                                                       {"FILE", "logs/%x-%j"},
                                                       {"DIR", "/tmp"},
                                                       {"ADDRESS", "ada@example.org"},
                                                       {"S[:C[:T]]", "2:8:2"},
                                                       {"KEY=VALUE", "my-option=on"},
                                                       {"append", "append"},
                                                       {"INDICES", "0-7%2"},
                                                       {"NAME=VALUES|FILE.csv", "lr=1,2"},
                                                       {"grid|zip|random:N[:SEED]", "zip"},
                                                       {"RUN[:ok|any|fail]", "4711:any"},
                                                       {"N|until-done", "7"},
                                                       {"user|mcs|topo", "user"},
                                                       {"yes|no", "no"},
                                                       {"MEASURE=PERCENT", "memory=20"}};

// Values for rows whose type is not specific enough.
const std::map<std::string, std::string> k_examples_by_name = {
    {"--dependency", "afterok:7"},
    {"--checkpoints", "out/step-*"},
    {"--template", "big"},
    {"--mail-type", "END,FAIL"},
    {"--hint", "nomultithread"},
    {"--wait-all-nodes", "1"},
    {"--oom-kill-step", "1"},
    {"--mpi", "pmi2"},
    {"--gpu-view", "node"},
};

std::string example_of(const Option& row) {
  const auto own = k_examples_by_name.find(row.long_name());
  return own != k_examples_by_name.end() ? own->second : k_examples.at(row.value.type);
}

}  // namespace

TEST_CASE("names and keys are unique, and every row can be read") {
  std::set<std::string> names;
  std::set<std::string> keys;
  for (const Option& row : options()) {
    CAPTURE(row.names);
    for (const std::string& name : split(row.names, ',')) CHECK(names.insert(name).second);
    CHECK(row.value.parse);
    CHECK(std::string(row.help).back() != '.');
    if (row.value.read) CHECK(keys.insert(row.json_key()).second);
    CHECK(bool(row.value.read) == bool(row.value.write));
  }
  CHECK(keys.size() >= 30);
}

TEST_CASE("the input for any option survives spec.json") {
  for (const Option& row : options()) {
    CAPTURE(row.names);
    JobSpec spec;
    REQUIRE(k_examples.count(row.value.type) + k_examples_by_name.count(row.long_name()) > 0);
    REQUIRE(row.value.parse(example_of(row), spec));
    const std::string text = to_json(spec);
    const auto back = from_json(text, "spec.json");
    REQUIRE(back);
    CHECK(to_json(*back) == text);
    if (row.value.write && row.json_key() != "requeue" && row.json_key() != "launcher")
      CHECK(text != to_json(JobSpec{}));
  }
}

TEST_CASE("an invalid launcher or binding is refused when read, and changes nothing") {
  JobSpec spec;
  const auto launcher = option("--launcher").value.parse("rsh", spec);
  REQUIRE_FALSE(launcher);
  CHECK(launcher.error().message == "must be auto, mpirun, srun, mpiexec or ssh");
  const auto bind = option("--bind").value.parse("map:0;a", spec);
  REQUIRE_FALSE(bind);
  CHECK(option("--bind").value.parse("near", spec).error().message == "`near` is not a binding");
  CHECK(bind.error().message == "`a` in `map:0;a` is not a list of processors");
  CHECK(to_json(spec) == to_json(JobSpec{}));
}

TEST_CASE("a binding is written as it was typed") {
  JobSpec spec;
  REQUIRE(option("--bind").value.parse("map:0,1;2-3", spec));
  CHECK(spec.bind.policy == BindPolicy::map);
  CHECK(spec.bind.map == std::vector<std::vector<unsigned>>{{0, 1}, {2, 3}});
  CHECK(to_json(spec).find("\"map:0,1;2-3\"") != std::string::npos);
}

TEST_CASE("an option that only the scheduler reads arrives there under its own name") {
  JobSpec spec;
  REQUIRE(option("--comment").value.parse("sweep 3", spec));
  CHECK(spec.slurm == std::map<std::string, std::string>{{"comment", "sweep 3"}});
  CHECK(validate(spec).empty());
  spec.slurm["comment"] = "two\nlines";
  REQUIRE(validate(spec).size() == 1);
  CHECK(validate(spec)[0].where == "--comment");
}

TEST_CASE("a value that cannot be read leaves the spec as it was") {
  const std::map<std::string, std::string> bad = {{"--nodes", "x"},
                                                  {"--time", "soon"},
                                                  {"--mem", "16Q"},
                                                  {"--stop-signal", "KILL"},
                                                  {"--preflight", "maybe"},
                                                  {"--start-timeout", "70000"},
                                                  {"--hang-timeout", "0"}};
  for (const auto& row : bad) {
    const auto& [name, text] = row;
    CAPTURE(row.first);
    JobSpec spec;
    const auto parsed = option(name).value.parse(text, spec);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().code == Errc::invalid);
    CHECK(to_json(spec) == to_json(JobSpec{}));
  }
}

}  // namespace dts::spec
