// SPDX-License-Identifier: Apache-2.0
// Mount points are made in a root file system, and never outside of it.
#include "core/base/files/mount_point.hpp"

#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <filesystem>

using namespace dts;

TEST_CASE("a missing mount point is made, an existing one is kept") {
  const tests::TemporaryFolder root;
  REQUIRE(make_mount_point(root.path, "/home/u/run", true));
  CHECK(std::filesystem::is_directory(root.file("home/u/run")));
  REQUIRE(make_mount_point(root.path, "/home/u//file", false));
  CHECK(std::filesystem::is_regular_file(root.file("home/u/file")));
  REQUIRE(write_file(root.file("home/u/file"), "text"));
  REQUIRE(make_mount_point(root.path, "/home/u/file", false));
  CHECK(read_file(root.file("home/u/file")) == "text");
  REQUIRE(make_mount_point(root.path, "/home/u/run", true));
}

TEST_CASE("a symbolic link is not followed out of the image") {
  const tests::TemporaryFolder root;
  const tests::TemporaryFolder outside;
  std::filesystem::create_directory_symlink(outside.path, root.file("link"));
  std::filesystem::create_symlink(outside.file("made"), root.file("file"));
  for (const bool is_folder : {true, false}) {
    const auto made = make_mount_point(root.path, "/link/made", is_folder);
    REQUIRE_FALSE(made);
    CHECK(made.error().message.find("symbolic link") != std::string::npos);
    CHECK_FALSE(make_mount_point(root.path, "/file", is_folder));
  }
  CHECK(list_folder(outside.path).empty());
  CHECK_FALSE(make_mount_point(root.file("none"), "/a", true));
}
