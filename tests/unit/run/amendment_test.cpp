// SPDX-License-Identifier: Apache-2.0
// The files of a run change together, or a later command completes the change.
#include "core/run/directory/amendment.hpp"

#include "core/base/files/files.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <string>

namespace {

using namespace dts;
using namespace dts::run;
using tests::TemporaryFolder;

// A script may name files whose names are not UTF-8.
const Amendment k_new{"new spec\n", "new plan\n", "new script \xe9\n"};
constexpr const char* k_new_texts = "new spec\nnew plan\nnew script \xe9\n";

// A run directory with files of its own.
RunDirectory old_run(const TemporaryFolder& folder) {
  RunDirectory run{folder.path};
  REQUIRE(write_file(run.spec(), "old spec\n"));
  REQUIRE(write_file(run.plan(), "old plan\n"));
  REQUIRE(write_file(run.script(), "old script\n"));
  return run;
}

std::string texts_of(const RunDirectory& run) {
  return read_file(run.spec()).value_or("-") + read_file(run.plan()).value_or("-") +
         read_file(run.script()).value_or("-");
}

}  // namespace

TEST_CASE("an amendment replaces all files, and a script only if it has one") {
  const TemporaryFolder folder;
  const RunDirectory run = old_run(folder);
  REQUIRE(amend(run, {"spec\n", "plan\n", ""}));
  CHECK(texts_of(run) == "spec\nplan\nold script\n");
  REQUIRE(amend(run, k_new));
  CHECK(texts_of(run) == k_new_texts);
  CHECK_FALSE(exists(run.amendment()));
  CHECK(complete_amendment(run));  // nothing to do
}

TEST_CASE("an interrupted amendment is completed, whichever file it had come to") {
  for (const char* name : {"spec.json", "plan.json", "script.sbatch"}) {
    CAPTURE(name);
    const TemporaryFolder folder;
    const RunDirectory run = old_run(folder);
    REQUIRE(remove_all(folder.file(name)));
    REQUIRE(make_folders(folder.file(name) + "/in-the-way"));
    CHECK_FALSE(amend(run, k_new));
    CHECK(exists(run.amendment()));
    REQUIRE(remove_all(folder.file(name)));
    REQUIRE(complete_amendment(run));
    CHECK(texts_of(run) == k_new_texts);
    CHECK_FALSE(exists(run.amendment()));
  }
}

TEST_CASE("an amendment of a composed run replaces the files of its parts, too") {
  const TemporaryFolder folder;
  const RunDirectory run = old_run(folder);
  const RunDirectory part{folder.file("steps/2-train")};
  REQUIRE(make_folders(part.path));
  Amendment both = k_new;
  both.parts.push_back(
      {.spec = "part's spec\n", .plan = "part's plan\n", .script = "", .folder = "steps/2-train"});
  REQUIRE(make_folders(part.plan() + "/in-the-way"));
  CHECK_FALSE(amend(run, both));
  REQUIRE(remove_all(part.plan()));
  REQUIRE(complete_amendment(run));
  CHECK(texts_of(run) == k_new_texts);
  CHECK(texts_of(part) == "part's spec\npart's plan\n-");
}

TEST_CASE("an amendment that dtsubmit did not write changes nothing") {
  for (
      const char* text :
      {"",
       "[]",
       "{",
       "{}",
       R"({"schema": "dtsubmit/amendment/1", "spec": 1})",
       R"({"schema": "dtsubmit/amendment/1", "spec": "", "plan": "", "script": "", "parts": {"a": 1}})",
       R"({"schema": "dtsubmit/amendment/1", "spec": "", "plan": "", "script": "", "parts": 1})"}) {
    CAPTURE(text);
    const TemporaryFolder folder;
    const RunDirectory run = old_run(folder);
    REQUIRE(write_file(run.amendment(), text));
    const auto completed = complete_amendment(run);
    REQUIRE_FALSE(completed);
    CHECK(completed.error().code == Errc::invalid);
    CHECK(texts_of(run) == "old spec\nold plan\nold script\n");
  }
}
