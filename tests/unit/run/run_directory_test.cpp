// SPDX-License-Identifier: Apache-2.0
// A run directory is whole or absent, also on a full disk; no two agents take one attempt.
#include "core/run/directory/run_directory.hpp"

#include "core/base/files/files.hpp"
#include "core/base/text/text.hpp"
#include "tests/support/small_disk.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

namespace {

using namespace dts;
using namespace dts::run;
using tests::in_child;
using tests::TemporaryFolder;

Files some_files(std::size_t spec_bytes = 3) {
  return {std::string(spec_bytes, 's'),
          "plan",
          "script",
          "provenance",
          "{\"time\":\"t\",\"event\":\"created\"}\n"};
}

RunDirectory new_run(const TemporaryFolder& folder) {
  return create_run_directory(folder.path, "a-20260102T030405-abcdef", some_files()).value();
}

constexpr int k_not_allowed = 77;
constexpr int k_as_expected = 0;

unsigned fence_of(const RunDirectory& run) {
  return static_cast<unsigned>(
      parse_number(trim(read_file(run.checkpoints() + "/fence").value())).value());
}

// Starts `count` agents at once; each leaves the numbers it took in a file of its own.
std::vector<unsigned> take_at_once(const RunDirectory& run, unsigned count, unsigned each) {
  std::vector<pid_t> agents;
  for (unsigned i = 0; i < count; ++i) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      std::string numbers;
      for (unsigned k = 0; k < each; ++k) {
        const auto number = take_attempt(run, "lease of " + std::to_string(i) + "\n");
        if (!number) ::_exit(1);
        numbers += std::to_string(*number) + "\n";
      }
      ::_exit(write_file(run.path + "/taken-" + std::to_string(i), numbers) ? 0 : 1);
    }
    agents.push_back(pid);
  }
  std::vector<unsigned> taken;
  for (unsigned i = 0; i < count; ++i) {
    int status = 0;
    REQUIRE(::waitpid(agents[i], &status, 0) == agents[i]);
    REQUIRE(status == 0);
    const std::string text = read_file(run.path + "/taken-" + std::to_string(i)).value();
    for (const std::string& word : split(text, '\n'))
      if (!word.empty()) taken.push_back(static_cast<unsigned>(parse_number(word).value()));
  }
  return taken;
}

}  // namespace

TEST_CASE("a run's name is its job's, the time and six digits that count on from it") {
  const std::chrono::system_clock::time_point time{std::chrono::seconds(1'767'323'045)};
  const std::string name = run_name("cnn2", time);
  CHECK(name.substr(0, 21) == "cnn2-20260102T030405-");
  CHECK(name.size() == 27);
  CHECK(name.find_first_not_of("0123456789abcdef", 21) == std::string::npos);
  CHECK(run_name("cnn2", time) != name);
}

TEST_CASE("runs that are made within a second are in the order of their creation, by their names") {
  const std::chrono::system_clock::time_point second{std::chrono::seconds(1'767'323'045)};
  std::string before;
  for (const auto part : {0, 1, 1, 999, 1'000, 250'000, 999'999}) {
    const RunDirectory run{"/runs/" + run_name("b", second + std::chrono::microseconds(part))};
    if (!before.empty()) CHECK(is_older({before}, run));
    before = run.path;
  }
  CHECK(is_older({before}, {"/runs/" + run_name("a", second + std::chrono::seconds(1))}));
}

TEST_CASE("a run directory has every file, for its owner only") {
  const TemporaryFolder folder;
  const auto run = create_run_directory(folder.file("deep/runs"), "a-1-b", some_files());
  REQUIRE(run);
  CHECK(run->path == folder.file("deep/runs/a-1-b"));
  CHECK(read_file(run->spec()).value() == "sss");
  CHECK(read_file(run->plan()).value() == "plan");
  CHECK(read_file(run->script()).value() == "script");
  CHECK(read_file(run->provenance()).value() == "provenance");
  CHECK(exists(run->ledger()));
  CHECK(list_folder(run->checkpoints()).empty());
  CHECK(list_folder(folder.file("deep/runs")) == std::vector<std::string>{"a-1-b"});

  struct stat info {};

  REQUIRE(::stat(run->path.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0700);
  CHECK(sync_run_directory(*run));
}

TEST_CASE("a run without a scheduler has no script") {
  const TemporaryFolder folder;
  Files files = some_files();
  files.script.clear();
  const auto run = create_run_directory(folder.path, "a-1-b", files);
  REQUIRE(run);
  CHECK_FALSE(exists(run->script()));
}

TEST_CASE("an existing run directory is never written into") {
  const TemporaryFolder folder;
  const RunDirectory run = new_run(folder);
  Files other = some_files();
  other.spec = "other";
  const auto again = create_run_directory(folder.path, "a-20260102T030405-abcdef", other);
  REQUIRE_FALSE(again);
  CHECK(again.error().code == Errc::io);
  CHECK(read_file(run.spec()).value() == "sss");
  CHECK(list_folder(folder.path).size() == 1);
}

TEST_CASE("a folder of runs that cannot be made is an error that names it") {
  const TemporaryFolder folder;
  REQUIRE(write_file(folder.file("file"), ""));
  const auto run = create_run_directory(folder.file("file/runs"), "a-1-b", some_files());
  REQUIRE_FALSE(run);
  CHECK(run.error().code == Errc::io);
  CHECK(run.error().message.find(folder.file("file")) != std::string::npos);
}

TEST_CASE("on a full disk there is no run directory, not half of one, wherever the space ends") {
  const TemporaryFolder folder;
  bool allowed = true;
  for (unsigned kib = 4; kib <= 24 && allowed; kib += 4) {
    CAPTURE(kib);
    const int code = in_child([&] {
      if (!tests::mount_small_disk(folder.path, kib)) return k_not_allowed;
      const auto run = create_run_directory(folder.path, "a-1-b", some_files(7'000));
      if (run) return kib >= 24 ? k_as_expected : 1;  // 2 + 4 pages are enough
      if (run.error().code != Errc::io) return 2;
      if (run.error().hint.empty()) return 3;
      return list_folder(folder.path).empty() ? k_as_expected : 4;
    });
    allowed = code != k_not_allowed;
    if (allowed) CHECK(code == k_as_expected);
  }
  if (!allowed) MESSAGE("skipped: no mount namespace for this user");
}

TEST_CASE("attempts are numbered from 1 and the newest one is the fence") {
  const TemporaryFolder folder;
  const RunDirectory run = new_run(folder);
  CHECK(latest_attempt(run) == 0);
  for (unsigned expected = 1; expected <= 3; ++expected) {
    CHECK(take_attempt(run, "{\"pid\": 1}\n").value() == expected);
    CHECK(latest_attempt(run) == expected);
    CHECK(fence_of(run) == expected);
  }
  CHECK(read_file(run.attempt(2) + "/epoch").value() == "{\"pid\": 1}\n");
}

TEST_CASE("no attempt is taken in a run directory that is gone, and none comes back") {
  const TemporaryFolder folder;
  const RunDirectory run = new_run(folder);
  REQUIRE(remove_all(run.path));
  CHECK_FALSE(take_attempt(run, "").has_value());
  CHECK_FALSE(exists(run.path));
}

TEST_CASE("twenty agents at once get twenty numbers, and the fence ends at the highest") {
  const TemporaryFolder folder;
  const RunDirectory run = new_run(folder);
  const std::vector<unsigned> taken = take_at_once(run, 20, 3);
  const std::set<unsigned> distinct(taken.begin(), taken.end());
  CHECK(distinct.size() == 60);
  CHECK(*distinct.begin() == 1);
  CHECK(*distinct.rbegin() == 60);
  CHECK(fence_of(run) == 60);
}

TEST_CASE("a slower agent does not lower the fence that a faster one raised") {
  const TemporaryFolder folder;
  const RunDirectory run = new_run(folder);
  REQUIRE(make_folders(run.checkpoints()));
  REQUIRE(write_file(run.checkpoints() + "/fence", "9\n"));
  CHECK(take_attempt(run, "").value() == 1);
  CHECK(fence_of(run) == 9);
}

TEST_CASE("a damaged fence is put right by the next attempt") {
  const TemporaryFolder folder;
  const RunDirectory run = new_run(folder);
  REQUIRE(write_file(run.checkpoints() + "/fence", "\xff nonsense"));
  CHECK(take_attempt(run, "").value() == 1);
  CHECK(fence_of(run) == 1);
}

TEST_CASE("folders that only look like attempts do not count") {
  const TemporaryFolder folder;
  const RunDirectory run = new_run(folder);
  for (const char* name : {"attempt-",
                           "attempt-x",
                           "attempt--1",
                           "attempt-7x",
                           "attempt-99999999999999999999",
                           "attempt-1000000",
                           "Attempt-5",
                           "xattempt-6"}) {
    REQUIRE(make_folders(run.path + "/" + name));
    REQUIRE(write_file(run.path + "/" + name + "/epoch", ""));
  }
  REQUIRE(make_folders(run.attempt(8)));  // without its epoch: nobody holds it
  CHECK(latest_attempt(run) == 0);
  CHECK(take_attempt(run, "").value() == 1);
}

TEST_CASE("an attempt whose agent died between folder and epoch is taken by the next") {
  const TemporaryFolder folder;
  const RunDirectory run = new_run(folder);
  REQUIRE(make_folders(run.attempt(1)));
  CHECK(take_attempt(run, "").value() == 1);
}

TEST_CASE("on a full disk no attempt is taken, and none is left behind") {
  const TemporaryFolder folder;
  const int code = in_child([&] {
    if (!tests::mount_small_disk(folder.path, 8)) return k_not_allowed;
    const RunDirectory run{folder.path};
    if (!write_file(folder.file("fill"), std::string(8'192, 'x'))) return 1;
    const auto taken = take_attempt(run, "lease\n");
    if (taken || taken.error().code != Errc::io) return 2;
    return latest_attempt(run) == 0 ? k_as_expected : 3;
  });
  if (code == k_not_allowed)
    MESSAGE("skipped: no mount namespace for this user");
  else
    CHECK(code == k_as_expected);
}

TEST_CASE("a program's last report is when its metrics last grew") {
  const TemporaryFolder folder;
  const RunDirectory run = new_run(folder);
  CHECK_FALSE(last_report(run));
  REQUIRE(write_file(run.metrics(), "{}\n"));
  const auto age = std::chrono::system_clock::now() - last_report(run).value();
  CHECK(age > std::chrono::seconds(-2));
  CHECK(age < std::chrono::minutes(5));
}
