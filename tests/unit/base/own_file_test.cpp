// SPDX-License-Identifier: Apache-2.0
// Only what we alone can have written is read; everything else is refused by its name.
#include "core/base/files/own_file.hpp"

#include "core/base/files/files.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

namespace {

using namespace dts;
using tests::TemporaryFolder;

constexpr uid_t k_stranger = 4242;

// False where only root could do that.
bool give_away(const std::string& path) {
  if (::lchown(path.c_str(), k_stranger, k_stranger) == 0) return true;
  MESSAGE("skipped: only root can make a file of somebody else");
  return false;
}

template <class T>
bool refuses(const Result<T>& opened, const std::string& path, const std::string& why) {
  return !opened && opened.error().code == Errc::invalid &&
         opened.error().message.find("refusing " + path) == 0 &&
         opened.error().message.find(why) != std::string::npos;
}

struct Folder : TemporaryFolder {
  std::string plan = file("plan.json");

  Folder() { REQUIRE(write_file(plan, "{}")); }
};

}  // namespace

TEST_CASE("a file and a folder of our own are opened, whatever others may read") {
  const Folder folder;
  for (const mode_t mode : {0600U, 0644U, 0755U, 0400U}) {
    REQUIRE(::chmod(folder.plan.c_str(), mode) == 0);
    CHECK(read_own_file(folder.plan).value_or("?") == "{}");
  }
  for (const mode_t mode : {0700U, 0755U, 02755U}) {
    REQUIRE(::chmod(folder.path.c_str(), mode) == 0);
    CHECK(open_own_folder(folder.path));
  }
}

TEST_CASE(
    "what others may write is refused, but a sticky folder and a program's own file are not") {
  const Folder folder;
  for (const mode_t mode : {0666U, 0660U, 0622U, 0602U}) {
    REQUIRE(::chmod(folder.plan.c_str(), mode) == 0);
    CHECK(refuses(read_own_file(folder.plan), folder.plan, "can be written by others"));
    CHECK(open_own_file(folder.plan, Others::may_write));
  }
  for (const mode_t mode : {0777U, 0770U, 02775U}) {
    REQUIRE(::chmod(folder.path.c_str(), mode) == 0);
    CHECK(refuses(open_own_folder(folder.path), folder.path, "can be written by others"));
  }
  REQUIRE(::chmod(folder.path.c_str(), 01777) == 0);
  CHECK(open_own_folder(folder.path));
}

TEST_CASE("what belongs to another user is refused, also for root, and to append to as well") {
  const Folder folder;
  if (!give_away(folder.plan)) return;
  CHECK(refuses(read_own_file(folder.plan), folder.plan, "belongs to user 4242"));
  CHECK(refuses(open_own_file(folder.plan, Others::may_write), folder.plan, "belongs to"));
  CHECK(refuses(append_line(folder.plan, "x"), folder.plan, "belongs to user 4242"));
  CHECK(read_file(folder.plan).value_or("?") == "{}");
  REQUIRE(give_away(folder.path));
  CHECK(refuses(open_own_folder(folder.path), folder.path, "belongs to user 4242"));
}

TEST_CASE("a symbolic link is no file of ours; to a folder only our own links lead") {
  const Folder folder;
  const std::string link = folder.file("link");
  REQUIRE(::symlink(folder.plan.c_str(), link.c_str()) == 0);
  CHECK(refuses(read_own_file(link), link, "is a symbolic link"));
  const std::string way = folder.file("way");
  REQUIRE(::symlink(folder.path.c_str(), way.c_str()) == 0);
  CHECK(open_own_folder(way));
  CHECK(check_own_link(way));
  if (!give_away(way)) return;
  CHECK(refuses(open_own_folder(way), way, "a link that user 4242 made"));
  CHECK(refuses(check_own_link(way), way, "a link that user 4242 made"));
}

TEST_CASE("a file that is not regular is refused at once, also a FIFO without a writer") {
  const Folder folder;
  const std::string fifo = folder.file("fifo");
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  CHECK(refuses(read_own_file(fifo), fifo, "is not a regular file"));
  CHECK(refuses(read_own_file(folder.path), folder.path, "is not a regular file"));
  CHECK(open_own_folder(folder.plan).error().code == Errc::io);
}

TEST_CASE("a missing file is not_found, and a missing link is accepted") {
  CHECK(read_own_file("/nonexistent/plan.json").error().code == Errc::not_found);
  CHECK(open_own_folder("/nonexistent").error().code == Errc::not_found);
  CHECK(check_own_link("/nonexistent"));
}

TEST_CASE("a file larger than its limit is an error") {
  const Folder folder;
  CHECK(read_own_file(folder.plan, 1).error().code == Errc::invalid);
}
