// SPDX-License-Identifier: Apache-2.0
// A run is found by what a person knows of it: job id, name, folder, "last".
#include "core/run/index/find.hpp"

#include "core/run/ledger/ledger.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using namespace dts;
using namespace dts::run;
using tests::TemporaryFolder;

// Three runs: the order of their names is not that of their times.
struct Runs : TemporaryFolder {
  Runs() {
    add("zeta-20260101T000000-aaaaaa", "41");
    add("alpha-two-20260103T000000-bbbbbb", "q7.alpha");
    add("beta-20260102T000000-cccccc", "42");
  }

  void add(const std::string& name, const char* job) const {
    REQUIRE(make_folders(file(name)));
    REQUIRE(append_event(file(name) + "/ledger.jsonl", {.what = Created{}}));
    REQUIRE(append_event(file(name) + "/ledger.jsonl",
                         {.job = JobId::parse(job).value(), .what = Submitted{}}));
  }

  [[nodiscard]] std::string found(const std::string& what) const {
    const auto run = find_run(path, what);
    if (!run)
      return run.error().code == Errc::not_found && !run.error().hint.empty() ? "not found" : "?";
    return run->path.substr(run->path.rfind('/') + 1);
  }
};

}  // namespace

TEST_CASE("runs are listed oldest first, by their time and not by their name") {
  const Runs runs;
  std::vector<std::string> names;
  for (const RunDirectory& run : list_runs(runs.path))
    names.push_back(run.path.substr(runs.path.size() + 1));
  CHECK(names == std::vector<std::string>{"zeta-20260101T000000-aaaaaa",
                                          "beta-20260102T000000-cccccc",
                                          "alpha-two-20260103T000000-bbbbbb"});
}

TEST_CASE("a folder that is not a run directory is not listed") {
  const Runs runs;
  REQUIRE(make_folders(runs.file("empty-20260109T000000-dddddd")));
  REQUIRE(make_folders(runs.file(".new-half-20260109T000000-eeeeee")));
  REQUIRE(write_file(runs.file(".new-half-20260109T000000-eeeeee/ledger.jsonl"), ""));
  REQUIRE(write_file(runs.file("README"), ""));
  CHECK(list_runs(runs.path).size() == 3);
  CHECK(list_runs("/nonexistent").empty());
}

TEST_CASE("`last` is the youngest run") {
  CHECK(Runs().found("last") == "alpha-two-20260103T000000-bbbbbb");
}

TEST_CASE("a run is found by its name and by its job's number") {
  const Runs runs;
  CHECK(runs.found("beta-20260102T000000-cccccc") == "beta-20260102T000000-cccccc");
  CHECK(runs.found("41") == "zeta-20260101T000000-aaaaaa");
  CHECK(runs.found("q7.alpha") == "alpha-two-20260103T000000-bbbbbb");
}

TEST_CASE(
    "of two runs with one job number, after a controller lost its state, the youngest is meant") {
  const Runs runs;
  runs.add("young-20260105T000000-ffffff", "41");
  CHECK(runs.found("41") == "young-20260105T000000-ffffff");
}

TEST_CASE("a run is found by its folder, also as a shell completes it") {
  const Runs runs;
  const std::string folder = runs.file("beta-20260102T000000-cccccc");
  for (const std::string& what :
       {folder, folder + "/", folder + "///", folder + "/../beta-20260102T000000-cccccc"}) {
    CAPTURE(what);
    const auto run = find_run("/nonexistent", what);
    REQUIRE(run);
    CHECK(run->path == folder);
  }
}

TEST_CASE("an unknown name is not_found, with a hint") {
  const Runs runs;
  for (const char* what : {"",
                           "40",
                           "gamma",
                           "..",
                           ".",
                           "99999999999999999999",
                           "-1",
                           "4294967338",
                           "/nonexistent/run",
                           "./beta"}) {
    CAPTURE(what);
    CHECK(runs.found(what) == "not found");
  }
  CHECK_FALSE(find_run(runs.file("nothing"), "last"));
}

TEST_CASE("a run with a damaged ledger does not hide the others") {
  const Runs runs;
  REQUIRE(write_file(runs.file("beta-20260102T000000-cccccc/ledger.jsonl"), "nonsense\n"));
  CHECK(runs.found("41") == "zeta-20260101T000000-aaaaaa");
}

TEST_CASE("a run that another user keeps from us is named as such") {
  const Runs runs;
  const std::string folder = runs.file("beta-20260102T000000-cccccc");
  if (::geteuid() == 0) {
    MESSAGE("skipped: root can read everything");
    return;
  }
  REQUIRE(::chmod(folder.c_str(), 0) == 0);
  const auto found = find_run(runs.path, folder);
  REQUIRE_FALSE(found);
  CHECK(found.error().message == "cannot read " + folder + ": Permission denied");
  REQUIRE(::chmod(folder.c_str(), 0700) == 0);
}
