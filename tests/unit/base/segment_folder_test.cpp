// SPDX-License-Identifier: Apache-2.0
// Shared memory goes with the last that uses it, and nobody else's does.
#include "core/base/files/segment_folder.hpp"

#include "core/base/files/files.hpp"
#include "core/base/hash.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <optional>

namespace {

using dts::SegmentFolder;

struct Parent {
  std::string path = "/tmp/dts-segments-" + dts::random_hex(8);

  Parent() { REQUIRE(dts::make_folders(path)); }

  ~Parent() { (void)dts::remove_all(path); }

  [[nodiscard]] std::string ours(const char* name) const {
    return fmt::format("{}/dtsubmit-{}-{}", path, ::geteuid(), name);
  }
};

// A process that joins and lives until it is killed.
pid_t join_and_stay(const std::string& parent, const char* name) {
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    const auto folder = SegmentFolder::join(parent, name);
    if (!dts::create_file(folder.path() + "/vader_segment", "x")) ::_exit(1);
    if (::write(ready[1], "x", 1) != 1) ::_exit(1);
    while (true) ::pause();
  }
  char byte;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  ::close(ready[0]);
  ::close(ready[1]);
  return pid;
}

void end(pid_t pid) {
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

TEST_CASE("a folder is closed to others, and goes when the last has left it") {
  const Parent parent;
  std::optional<SegmentFolder> first = SegmentFolder::join(parent.path, "a");
  std::optional<SegmentFolder> second = SegmentFolder::join(parent.path, "a");
  REQUIRE(first->valid());
  REQUIRE(second->valid());
  CHECK(first->path() == parent.ours("a"));
  CHECK(second->path() == first->path());

  struct stat info {};

  REQUIRE(::stat(first->path().c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0700);
  REQUIRE(dts::create_file(first->path() + "/vader_segment", "x"));
  first.reset();
  CHECK(dts::exists(parent.ours("a") + "/vader_segment"));
  second.reset();
  CHECK_FALSE(dts::exists(parent.ours("a")));
}

TEST_CASE("segments of killed processes are removed, those in use or of other users are not") {
  const Parent parent;
  const pid_t killed = join_and_stay(parent.path, "killed");
  const pid_t living = join_and_stay(parent.path, "living");
  REQUIRE(dts::create_file(parent.path + "/vader_segment.host.0.1.0", "another launcher's"));
  REQUIRE(dts::make_folders(parent.path + "/dtsubmit-" + std::to_string(::geteuid() + 1) + "-a"));
  end(killed);
  CHECK(dts::exists(parent.ours("killed") + "/vader_segment"));
  dts::remove_left_segments(parent.path);
  CHECK_FALSE(dts::exists(parent.ours("killed")));
  CHECK(dts::exists(parent.ours("living") + "/vader_segment"));
  CHECK(dts::list_folder(parent.path).size() == 3);
  end(living);
  dts::remove_left_segments(parent.path);
  CHECK(dts::list_folder(parent.path).size() == 2);
}

TEST_CASE("a place that is not the user's alone is not used") {
  const Parent parent;
  REQUIRE(dts::make_folders(parent.ours("open")));
  REQUIRE(::chmod(parent.ours("open").c_str(), 0777) == 0);
  CHECK_FALSE(SegmentFolder::join(parent.path, "open").valid());
  REQUIRE(::symlink("/tmp", parent.ours("link").c_str()) == 0);
  CHECK_FALSE(SegmentFolder::join(parent.path, "link").valid());
  REQUIRE(dts::create_file(parent.ours("file"), "x"));
  CHECK_FALSE(SegmentFolder::join(parent.path, "file").valid());
  CHECK_FALSE(SegmentFolder::join(parent.path + "/absent", "a").valid());
  dts::remove_left_segments(parent.path);
  CHECK(dts::list_folder(parent.path).size() == 3);
}

TEST_CASE("processes that join and leave at the same time never lose the folder they are in") {
  const Parent parent;
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      for (int round = 0; round < 200; ++round) {
        const auto folder = SegmentFolder::join(parent.path, "busy");
        const std::string file = fmt::format("{}/{}-{}", folder.path(), i, round);
        if (!folder.valid() || !dts::create_file(file, "x") || !dts::exists(file)) ::_exit(1);
      }
      ::_exit(0);
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) {
    int status = 0;
    ::waitpid(pid, &status, 0);
    CHECK(status == 0);
  }
  CHECK(dts::list_folder(parent.path).empty());
}

}  // namespace
