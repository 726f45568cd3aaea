// SPDX-License-Identifier: Apache-2.0
// dtsubmit check with recorded measurements, and with a program that stands in for the trainer.
// Checks on a private Slurm are in tests/integration.
#include "core/base/files/files.hpp"
#include "tests/cli/session.hpp"
#include "tests/support/source_dir.hpp"

#include <nlohmann/json.hpp>
#include <sys/stat.h>

namespace {

using namespace dts;
using namespace dts::tests;
using nlohmann::json;

std::string recorded(const char* name) {
  return in_source(std::string("tests/data/check/") + name + ".json");
}

// Puts our program beside a trainer of ours, whose measurements are a recorded file.
void with_trainer(const Session& session, const std::string& script) {
  REQUIRE(make_folders(session.file("tree/bin")));
  const std::string trainer = session.file("tree/bin/dttrain");
  REQUIRE(create_file(trainer, "#!/bin/sh\n" + script, 0755));
  const Output copied = session.shell(
      "cp \"$DTSUBMIT\" tree/bin/dtsubmit && cp -r "
      "\"$(dirname \"$DTSUBMIT\")/../lib\" tree/lib");
  REQUIRE_MESSAGE(copied.exit_code == 0, copied.err);
}

}  // namespace

TEST_CASE("the report of a faulty and of a healthy cluster is as it was") {
  const Session session;
  for (const char* name : {"faulty", "healthy", "alone"}) {
    CAPTURE(doctest::String(name));
    const Output output = session.dtsubmit({"check", "--from", recorded(name)});
    CHECK(output.exit_code == (std::string(name) == "faulty" ? 1 : 0));
    CHECK(output.err.empty());
    check_golden("check-" + std::string(name) + ".txt", output.out);
  }
}

TEST_CASE("faults are named in words, in JSON and in the page, which needs nothing else") {
  const Session session;
  const Output output = session.dtsubmit(
      {"check", "--from", recorded("faulty"), "--json", "--html", session.file("check.html")});
  CHECK(output.exit_code == 1);
  const json document = json::parse(output.out);
  CHECK(document["schema"] == "dtsubmit/check/1");
  CHECK(document["fit"] == false);
  CHECK(document["facts"]["nodes"].size() == 8);
  std::vector<std::string> unfit;
  for (const json& node : document["nodes"])
    if (!node["fit"].get<bool>()) unfit.push_back(node["node"]);
  CHECK(unfit == std::vector<std::string>{"n3", "n6", "n7", "n8"});
  const auto page = read_file(session.file("check.html"));
  REQUIRE(page);
  for (const json& fault : document["faults"]) {
    std::string words = fault;
    words = words.substr(0, words.find('\''));
    CHECK(contains(*page, words));
  }
  CHECK_FALSE(contains(*page, "<script"));
  CHECK_FALSE(contains(*page, "http"));
  CHECK(contains(*page, "prefers-color-scheme:dark"));
}

TEST_CASE("a baseline is saved, found again, and only of what is fit") {
  const Session session;
  const Words save{"check", "--from", recorded("healthy"), "--cluster", "c1", "--save-baseline"};
  CHECK(session.dtsubmit(save).exit_code == 0);
  const std::string path = session.file(".local/state/dtsubmit/baseline/c1.json");
  CHECK(*read_file(path) == *read_file(recorded("healthy")));
  Words judge{"check", "--from", recorded("alone"), "--cluster", "c1"};
  const Output with = session.dtsubmit(judge);
  CHECK(with.exit_code == 0);
  CHECK(contains(with.out, "compared with the baseline of 2026-11-23T15:40:00Z"));
  judge.insert(judge.end(), {"--baseline", "none"});
  CHECK_FALSE(contains(session.dtsubmit(judge).out, "baseline"));
  const Output refused = session.dtsubmit(
      {"check", "--from", recorded("faulty"), "--cluster", "c1", "--save-baseline"});
  CHECK(refused.exit_code == 1);
  CHECK(contains(refused.err, "not saved as the baseline"));
  CHECK(*read_file(path) == *read_file(recorded("healthy")));
  REQUIRE(write_file(path, "{"));
  const Output damaged =
      session.dtsubmit({"check", "--from", recorded("alone"), "--cluster", "c1"});
  CHECK(damaged.exit_code == 3);
  CHECK(contains(damaged.err, path));
}

TEST_CASE("--quarantine: later jobs avoid the nodes, and dtsubmit nodes says why") {
  const Session session;
  const Output output =
      session.dtsubmit({"check", "--from", recorded("faulty"), "--cluster", "c1", "--quarantine"});
  CHECK(contains(output.err, "4 nodes of c1 in quarantine"));
  const json nodes = json::parse(session.dtsubmit({"nodes", "--json"}).out);
  REQUIRE(nodes["quarantine"].size() == 4);
  CHECK(nodes["quarantine"][0]["node"] == "n3");
  CHECK(nodes["quarantine"][0]["cause"] == "check");
  CHECK(contains(nodes["quarantine"][0]["detail"].get<std::string>(),
                 "memory bandwidth of NUMA node 1 is 4"));
}

TEST_CASE("what is not as expected is refused by name") {
  const Session session;
  REQUIRE(create_file(session.file("bad.json"), R"({"schema":1,"nodes":[{"node":""}]})"));

  struct Refused {
    Words words;
    int code;
    const char* says;
  };

  for (const Refused& refused : std::vector<Refused>{
           {{"check", "--from", "bad.json"}, 3, "nodes[0].node: a name is expected"},
           {{"check", "--from", "absent.json"}, 6, "absent.json"},
           {{"check", "--from", "bad.json", "--tolerance", "ram=3"},
            2,
            "`ram=3` is not a tolerance"},
           {{"check", "--from", "bad.json", "--baseline", "absent.json"}, 3, "bad.json"},
           {{"check", "--save-baseline", "--baseline", "none"}, 2, "--save-baseline needs a file"},
           {{"check", "--nodse", "3"}, 2, "`--nodes`"}}) {
    CAPTURE(doctest::String(refused.says));
    const Output output = session.dtsubmit(refused.words);
    CAPTURE(output.err);
    CHECK(output.exit_code == refused.code);
    CHECK(contains(output.err, refused.says));
  }
}

TEST_CASE("tolerances come from options and from configuration files, which others ignore") {
  Session session;
  const Words judge{"check", "--from", recorded("faulty"), "--json"};
  const auto count = [&](const Words& words) {
    return json::parse(session.dtsubmit(words).out)["faults"].size();
  };
  const std::size_t all = count(judge);
  Words wide = judge;
  wide.insert(wide.end(), {"--tolerance", "memory=60"});
  CHECK(count(wide) == all - 1);
  REQUIRE(make_folders(session.file(".config/dtsubmit")));
  REQUIRE(
      create_file(session.file(".config/dtsubmit/config.toml"), "tolerance = [\"memory=60\"]\n"));
  CHECK(count(judge) == all - 1);
  CHECK(session.dtsubmit({"submit", "--dry-run", "--", "true"}).exit_code == 0);
}

TEST_CASE("--here --quick: one line and a code, without a home; a program that fails is not fit") {
  Session session;
  with_trainer(session,
               "[ \"$1\" = bench ] || exit 9\n"
               "case \" $* \" in *' --quick '*) ;; *) exit 8 ;; esac\n"
               "while [ $# -gt 1 ]; do [ \"$1\" = --output ] && out=$2; shift; done\n"
               "[ -z \"$FAILS\" ] || { echo no memory; exit 5; }\n"
               "cp \"$RECORDED\" \"$out\"\n");
  session.environment["RECORDED"] = recorded("alone");
  session.environment.erase("HOME");
  const std::string quick = "tree/bin/dtsubmit check --here --quick";
  const Output fit = session.shell(quick);
  CAPTURE(fit.err);
  CHECK(fit.exit_code == 0);
  CHECK(fit.out.starts_with("n1: fit (cores 8, clock 3."));
  CHECK(std::count(fit.out.begin(), fit.out.end(), '\n') == 1);
  CHECK(fit.err.empty());
  session.environment["RECORDED"] = recorded("faulty");
  const Output unfit = session.shell(quick);
  CHECK(unfit.exit_code == 1);
  CHECK(unfit.out.starts_with("unfit: n3: memory bandwidth of NUMA node 1 is 4"));
  session.environment["FAILS"] = "1";
  const Output failed = session.shell(quick);
  CHECK(failed.exit_code == 5);
  CHECK(contains(failed.err, "no memory"));
}
