// SPDX-License-Identifier: Apache-2.0
// dtsubmit list, and commands that find runs from any folder.
#include "tests/cli/session.hpp"

#include <nlohmann/json.hpp>

namespace {

using namespace dts;
using namespace dts::tests;

// Two finished runs in two folders, the second run just after the first.
struct TwoProjects : Session {
  std::vector<std::string> names;

  TwoProjects() {
    environment["SLURM_CONF"] = "/nonexistent/slurm.conf";
    for (const char* project : {"a", "b"}) {
      REQUIRE(make_folders(file(project)));
      const Output run = in(project, "run -c 1 --job-name " + std::string(project) + " -- true");
      REQUIRE(run.exit_code == 0);
      names.push_back(list_folder(file(std::string(project) + "/runs")).front());
    }
  }

  [[nodiscard]] Output in(const std::string& folder, const std::string& line) const {
    return shell("cd " + file(folder) + " && \"$DTSUBMIT\" " + line);
  }
};

}  // namespace

TEST_CASE("runs are found by name and as `last` from any folder, and listed newest first") {
  if (!Session::has_mpirun()) return;
  TwoProjects session;
  CHECK(contains(session.dtsubmit({"status", "last"}).out, session.file("b/runs/")));
  CHECK(contains(session.dtsubmit({"status", session.names[0]}).out, session.file("a/runs/")));
  // In a folder that has runs, these come first.
  CHECK(contains(session.in("a", "status last").out, session.file("a/runs/")));
  CHECK(session.dtsubmit({"status", "last", "--runs", "elsewhere"}).exit_code == 6);

  const Output list = session.dtsubmit({"list"});
  CHECK(list.exit_code == 0);
  CHECK(list.err.empty());
  const std::size_t a = list.out.find(session.names[0]), b = list.out.find(session.names[1]);
  REQUIRE(a != std::string::npos);
  CHECK(b < a);
  CHECK(contains(list.out, "done"));
  CHECK(contains(session.dtsubmit({"list", "-n", "1"}).out, "and 1 older: --all shows them"));

  const auto document = nlohmann::json::parse(session.in("a", "list --json").out, nullptr, false);
  REQUIRE(document.is_object());
  CHECK(document["schema"] == "dtsubmit/list/1");
  REQUIRE(document["runs"].size() == 2);
  CHECK(document["runs"][0]["run_directory"] == session.file("b/runs/" + session.names[1]));
  CHECK(document["runs"][0]["state"] == "done");
  CHECK(document["runs"][0]["job"] == 0);
}

TEST_CASE("what is gone is not listed, and what is not in the index is found in its folder") {
  if (!Session::has_mpirun()) return;
  TwoProjects session;
  REQUIRE(remove_all(session.file("b/runs/" + session.names[1])));
  CHECK(contains(session.dtsubmit({"status"}).out, session.names[0]));
  const auto document = nlohmann::json::parse(session.dtsubmit({"list", "--json"}).out);
  CHECK(document["runs"].size() == 1);
  CHECK(document["gone"].size() == 1);
  CHECK(session.dtsubmit({"list"}).err.empty());
  CHECK(
      contains(session.dtsubmit({"list", "--runs", "/no/such"}).err, "--runs: no folder /no/such"));
  CHECK(contains(session.dtsubmit({"list", "--runs", "/dev/null"}).err, "--runs: no folder /dev"));
  session.environment["DTSUBMIT_RUNS"] = "/no/such";  // there has been no run yet
  CHECK(session.dtsubmit({"list"}).err.empty());
  session.environment.erase("DTSUBMIT_RUNS");
  REQUIRE(remove_all(session.file(".local")));
  CHECK(session.dtsubmit({"list"}).out == "no runs\n");
  CHECK(contains(session.in("a", "list").out, session.names[0]));
}

TEST_CASE("a home that cannot be written costs a warning, not the run") {
  if (!Session::has_mpirun()) return;
  Session session;
  session.environment["XDG_STATE_HOME"] = "/proc/nowhere";
  const Output run = session.dtsubmit({"run", "-c", "1", "--", "true"});
  CHECK(run.exit_code == 0);
  CHECK(contains(run.err, "dtsubmit: warning: the run will be found from its own folder only"));
  CHECK(session.dtsubmit({"status", "last"}).exit_code == 0);
}

TEST_CASE("`last` is the newest of runs that are made within a second") {
  if (!Session::has_mpirun()) return;
  const Session session;
  for (int i = 0; i < 3; ++i) {
    const std::string folder = session.file("r" + std::to_string(i));
    // Both at once, to save time: the second begins when the first has created its folder.
    const Output output = session.shell("\"$DTSUBMIT\" run -c 1 --job-name one --runs " + folder +
                                        " -- sleep 1 & "
                                        "while ! ls " +
                                        folder +
                                        "/one-* >/dev/null 2>&1; do sleep 0.01; done; "
                                        "\"$DTSUBMIT\" run -c 1 --job-name another --runs " +
                                        folder + " -- true; wait");
    CHECK(output.exit_code == 0);
    CHECK(contains(session.dtsubmit({"status", "last", "--runs", folder}).out, "/another-"));
  }
}

TEST_CASE("why the states of jobs are not known is said once") {
  if (!Session::has_mpirun()) return;
  const TwoProjects session;
  const std::string created = R"({"time":"2026-01-02T03:04:05Z","event":"created"})";
  const std::string submitted = R"({"time":"2026-01-02T03:04:06Z","event":"submitted","job":7})";
  for (std::size_t i = 0; i < 2; ++i)
    REQUIRE(write_file(
        session.file((i == 0 ? "a/runs/" : "b/runs/") + session.names[i]) + "/ledger.jsonl",
        created + "\n" + submitted + "\n"));
  const Output list = session.dtsubmit({"list"});
  CHECK(list.exit_code == 0);
  CHECK(contains(list.out, "unknown"));
  const std::size_t said = list.err.find("the states of jobs are not known: ");
  REQUIRE(said != std::string::npos);
  CHECK(list.err.find("not known", said + 30) == std::string::npos);
}

TEST_CASE("damaged lines of the index are named, and cost nothing but themselves") {
  if (!Session::has_mpirun()) return;
  const TwoProjects session;
  const std::string index = session.file(".local/state/dtsubmit/runs.jsonl");
  const std::string text = read_file(index).value();
  REQUIRE(write_file(index, std::string(40, '\0') + "\n" + text + "{\"run\":\"/h", 0600));
  const Output list = session.dtsubmit({"list"});
  CHECK(list.exit_code == 0);
  CHECK(contains(list.err, "runs.jsonl: lines 1,4 are damaged and skipped"));
  for (const std::string& name : session.names) CHECK(contains(list.out, name));
}
