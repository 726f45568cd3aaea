// SPDX-License-Identifier: Apache-2.0
// Which checkpoint of a run is the newest, and whether its program has saved anything.
#include "core/base/files/files.hpp"
#include "core/base/text/text.hpp"
#include "core/run/directory/run_directory.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace dts;
using namespace dts::run;
using tests::TemporaryFolder;

RunDirectory checkpointed_run(const TemporaryFolder& folder) {
  return create_run_directory(
             folder.path, "a-20260102T030405-abcdef", Files{"spec", "plan", "", "", ""})
      .value();
}

}  // namespace

TEST_CASE("the newest checkpoint is the highest step, not a half-written one") {
  const TemporaryFolder folder;
  const RunDirectory run = checkpointed_run(folder);
  CHECK(newest_checkpoint(run).empty());
  for (const char* name :
       {"step-000000050", "step-000000100", "step-000000150.tmp.1234", "fence", "steps"})
    REQUIRE(make_folders(run.checkpoints() + "/" + name));
  CHECK(newest_checkpoint(run) == "step-000000100");
}

TEST_CASE("the step of a checkpoint is a number, however many digits it is written with") {
  const TemporaryFolder folder;
  const RunDirectory run = checkpointed_run(folder);
  for (const char* name : {"step-9", "step-10.pt", "step-9.pt", "step-last", "step-0", "step-"})
    REQUIRE(make_folders(run.checkpoints() + "/" + name));
  CHECK(newest_checkpoint(run) == "step-10.pt");
  // Not bindings: clang before 16 does not capture them.
  for (const auto& names : std::vector<std::pair<const char*, const char*>>{
           {"step-10", "step-9"},
           {"step-100", "step-000000099"},
           {"step-000000100", "step-000000099"},
           {"step-99999999999999999999999", "step-9999999999999999999999"},
           {"step-0", ""},
           {"out/ckpt-1000.pt", "out/ckpt-500.pt"},
           {"step-last", ""}}) {
    const char* later = names.first;
    const char* earlier = names.second;
    CAPTURE(later);
    CHECK(is_later_checkpoint(later, earlier));
    CHECK_FALSE(is_later_checkpoint(earlier, later));
    CHECK_FALSE(is_later_checkpoint(later, later));
  }
}

TEST_CASE("names of its own are seen beside checkpoints of steps, too") {
  const TemporaryFolder folder;
  const RunDirectory run = checkpointed_run(folder);
  REQUIRE(make_folders(run.checkpoints() + "/step-10"));
  REQUIRE(write_file(run.checkpoints() + "/step-last", "1"));
  const unsigned attempt = take_attempt(run, "lease\n").value();
  CHECK_FALSE(saves_otherwise(run, attempt));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));          // file times are coarse
  REQUIRE(write_file(run.checkpoints() + "/step-10/state", "again"));  // a step that was there
  CHECK_FALSE(saves_otherwise(run, attempt));
  REQUIRE(write_file(run.checkpoints() + "/step-last", "2"));
  CHECK(saves_otherwise(run, attempt));
}

TEST_CASE("a program that saves under names of its own is seen to, one that only began is not") {
  const TemporaryFolder folder;
  const RunDirectory run = checkpointed_run(folder);
  const unsigned attempt = take_attempt(run, "lease\n").value();
  CHECK_FALSE(saves_otherwise(run, attempt));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // file times are coarse
  REQUIRE(write_file(run.checkpoints() + "/last.pt.tmp", "half"));
  REQUIRE(make_folders(run.checkpoints() + "/attempt-1.tmp.12/step-000000050"));
  REQUIRE(write_file(run.checkpoints() + "/attempt-1.tmp.12/step-000000050/state", "half"));
  CHECK_FALSE(saves_otherwise(run, attempt));
  REQUIRE(make_folders(run.checkpoints() + "/epoch_1"));
  REQUIRE(write_file(run.checkpoints() + "/epoch_1/last.pt", "whole"));
  CHECK(saves_otherwise(run, attempt));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const unsigned next = take_attempt(run, "lease\n").value();
  CHECK_FALSE(saves_otherwise(run, next));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  REQUIRE(write_file(run.checkpoints() + "/epoch_1/last.pt.tmp", "half"));
  REQUIRE(std::filesystem::remove(run.checkpoints() + "/epoch_1/last.pt"));  // its folder is newer
  CHECK_FALSE(saves_otherwise(run, next));
}

TEST_CASE("a file that was being written when its program was killed is not a save") {
  const std::string archive = "PK\x03\x04 archive/data.pkl";
  const auto has_saved = [](const std::vector<std::string>& texts) {
    const TemporaryFolder folder;
    const RunDirectory run = checkpointed_run(folder);
    const auto before = std::filesystem::file_time_type::clock::now() - std::chrono::seconds(1);
    for (std::size_t i = 0; i < texts.size(); ++i)
      REQUIRE(write_file(run.checkpoints() + "/last-" + std::to_string(i) + ".pt", texts[i]));
    return has_saved_after(run, before);
  };
  CHECK_FALSE(has_saved({}));
  CHECK(has_saved({"weights"}));
  CHECK_FALSE(has_saved({""}));
  CHECK_FALSE(has_saved({archive}));
  CHECK(has_saved({archive + "PK\x05\x06 and the rest of its directory"}));
  CHECK_FALSE(has_saved({"weights", archive}));
  CHECK(has_saved({"weights", ""}));  // an empty file may be a mark
}

TEST_CASE("of a pattern, the newest match counts that was changed since, by what is in it") {
  const TemporaryFolder folder;
  const RunDirectory run = checkpointed_run(folder);
  const std::string place = folder.path + "/o[u]t";
  const std::string pattern = glob_escaped(place) + "/*";
  const auto wait = [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
  for (const char* name : {"last", "b"}) REQUIRE(make_folders(place + "/" + name));
  REQUIRE(write_file(place + "/old", "1"));
  wait();
  const unsigned attempt = take_attempt(run, "lease\n").value();
  CHECK(newest_match(pattern, run, attempt).empty());
  CHECK(newest_match("", run, attempt).empty());
  REQUIRE(std::filesystem::remove(place + "/old"));
  wait();
  REQUIRE(write_file(place + "/b/state", "1"));
  wait();
  REQUIRE(write_file(place + "/c.tmp", "half"));
  CHECK(newest_match(pattern, run, attempt) == place + "/b");
  REQUIRE(write_file(place + "/last/state", "1"));
  wait();
  CHECK(newest_match(pattern, run, attempt) == place + "/last");
  REQUIRE(write_file(place + "/last/state", "2"));  // in place: the folder itself is not newer
  REQUIRE(write_file(place + "/cut.pt", "PK\x03\x04 archive/data.pkl"));
  REQUIRE(write_file(place + "/empty.pt", ""));
  CHECK(newest_match(pattern, run, attempt) == place + "/last");
  CHECK(newest_match(pattern + "/", run, attempt) == place + "/last");
  CHECK(matches_of(pattern, std::filesystem::file_time_type::min()).has_incomplete);
  wait();
  REQUIRE(make_folders(place + "/b/shards/one"));
  REQUIRE(write_file(place + "/b/shards/one/model", "1"));
  REQUIRE(write_file(place + "/b/keep", "1"));
  wait();
  REQUIRE(write_file(place + "/last/more", "1"));
  wait();
  REQUIRE(std::filesystem::remove(place + "/b/keep"));  // rotated: the folder itself is newer
  CHECK(newest_match(pattern, run, attempt) == place + "/last");
}

TEST_CASE("of matches that were changed at the same time, the later step counts") {
  const TemporaryFolder folder;
  const auto now = std::filesystem::file_time_type::clock::now();
  for (const char* name : {"step-10", "step-9"}) {
    REQUIRE(write_file(folder.file(name), "1"));
    std::filesystem::last_write_time(folder.file(name), now);
  }
  CHECK(
      matches_of(glob_escaped(folder.path) + "/step-{9,10}", std::filesystem::file_time_type::min())
          .newest == folder.file("step-10"));
}
