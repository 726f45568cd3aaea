// SPDX-License-Identifier: Apache-2.0
// Files that are read because of their place: only those that nobody else can have written.
#include "core/base/files/trusted_file.hpp"

#include "core/base/files/files.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dts {

using dts::tests::contains;

TEST_CASE("a file that others may write is read by name only") {
  const tests::TemporaryFolder folder;
  const std::string path = folder.file("a.toml");
  CHECK(read_trusted_file(path, 10).error().code == Errc::not_found);
  CHECK(read_trusted_file(path + "/b", 10).error().code == Errc::not_found);
  REQUIRE(write_file(path, "12345"));
  CHECK(read_file(path).value() == read_trusted_file(path, 10).value());
  CHECK(contains(read_trusted_file(path, 4).error().message, "5 bytes, at most 4"));
  CHECK_FALSE(foreign_owner(path));
  REQUIRE(::chmod(path.c_str(), 0620) == 0);
  CHECK(read_regular_file(path, 10).value() == "12345");
  CHECK(contains(read_trusted_file(path, 10).error().message, "can be written by others"));
}

TEST_CASE("a link is followed, a FIFO and a folder are refused at once") {
  const tests::TemporaryFolder folder;
  REQUIRE(write_file(folder.file("a"), "x"));
  REQUIRE(::symlink("a", folder.file("link").c_str()) == 0);
  CHECK(read_trusted_file(folder.file("link"), 10).value() == "x");
  REQUIRE(::mkfifo(folder.file("fifo").c_str(), 0600) == 0);
  CHECK(contains(read_regular_file(folder.file("fifo"), 10).error().message, "not a regular file"));
  CHECK(contains(read_regular_file(folder.path, 10).error().message, "is a folder"));
}

TEST_CASE("a file of another user is not trusted") {
  if (::geteuid() != 0) {
    MESSAGE("skipped: only root can make a file of another user");
    return;
  }
  const tests::TemporaryFolder folder;
  const std::string path = folder.file("a");
  REQUIRE(write_file(path, "x", 0644));
  REQUIRE(::chown(path.c_str(), 12345, 12345) == 0);
  CHECK(foreign_owner(path) == 12345U);
  CHECK(contains(read_trusted_file(path, 10).error().message, "belongs to user 12345"));
}

}  // namespace dts
