// SPDX-License-Identifier: Apache-2.0
// Staging of real files: names, kinds, reuse, sources that change, disks that are full.
#include "core/stage/stage.hpp"

#include "core/base/os/process.hpp"
#include "core/stage/copy_part.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/small_disk.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>

namespace dts::stage {
namespace {

using tests::contains;
using tests::in_child;
using tests::TemporaryFolder;

constexpr int k_as_expected = 0;
constexpr int k_not_allowed = 77;

struct Place {
  TemporaryFolder folder;
  std::string last;  // line that it said

  Place() {
    REQUIRE(make_folders(source("")));
    REQUIRE(make_folders(folder.file("stage")));
  }

  [[nodiscard]] std::string source(const std::string& name) const {
    return folder.file("source/" + name);
  }

  [[nodiscard]] std::string staged(const std::string& name) const {
    return folder.file("stage/data/" + name);
  }

  void put(const std::string& name, const std::string& text) const {
    REQUIRE(write_file(source(name), text, 0640, Durability::deferred));
  }

  Result<void> stage(const std::vector<std::string>& texts) {
    StageOrder order;
    order.folder = folder.file("stage");
    order.threads = 3;
    for (const std::string& text : texts)
      order.items.push_back(spec::parse_stage_item(folder.file("source/" + text)).value());
    return stage_all(order, [this](const std::string& line) { last = line; });
  }

  [[nodiscard]] std::string read(const std::string& name) const {
    return read_file(staged(name)).value_or("(none)");
  }
};

ino_t inode_of(const std::string& path) {
  struct stat info {};

  return ::lstat(path.c_str(), &info) == 0 ? info.st_ino : 0;
}

int run(const std::vector<std::string>& argv) {
  Command command;
  command.argv = argv;
  const auto ended = run_process(std::move(command), std::chrono::seconds(60));
  return ended ? ended->exit_code : -1;
}

}  // namespace

TEST_CASE("a tree with odd names, links, empty and unreadable-by-others files is copied whole") {
  Place place;
  const std::string odd = "a\nb \xff 'q' -rf";
  REQUIRE(make_folders(place.source("tree/deep/empty")));
  place.put("tree/" + odd, "odd");
  place.put("tree/deep/none", "");
  place.put("tree/deep/script", "#!/bin/sh\n");
  REQUIRE(::chmod(place.source("tree/deep/script").c_str(), 0555) == 0);
  REQUIRE(::symlink("../"
                    "gone",
                    place.source("tree/deep/link").c_str()) == 0);
  REQUIRE(::chmod(place.source("tree/deep/empty").c_str(), 0555) == 0);
  REQUIRE(place.stage({"tree", "tree/deep/script:bin/"}));
  CHECK(place.read("tree/" + odd) == "odd");
  CHECK(place.read("tree/deep/none").empty());
  CHECK(place.read("bin/script") == "#!/bin/sh\n");
  std::error_code failed;
  CHECK(std::filesystem::read_symlink(place.staged("tree/deep/link"), failed) == "../gone");
  CHECK(exists(place.staged("tree/deep/empty")));
  CHECK(::access(place.staged("tree/deep/script").c_str(), X_OK) == 0);
  CHECK(contains(place.last, "4 files"));
}

TEST_CASE("a second attempt copies only what is new, changed or damaged") {
  Place place;
  for (const char* name : {"tree/kept", "tree/changed", "tree/damaged"}) {
    REQUIRE(make_folders(place.source("tree")));
    place.put(name, "first");
  }
  REQUIRE(place.stage({"tree"}));
  const ino_t kept = inode_of(place.staged("tree/kept"));
  place.put("tree/changed", "second");
  place.put("tree/new", "new");
  REQUIRE(::truncate(place.staged("tree/damaged").c_str(), 2) == 0);
  REQUIRE(place.stage({"tree"}));
  CHECK(inode_of(place.staged("tree/kept")) == kept);
  CHECK(place.read("tree/changed") == "second");
  CHECK(place.read("tree/damaged") == "first");
  CHECK(place.read("tree/new") == "new");
  CHECK(contains(place.last, "3 files"));
  REQUIRE(place.stage({"tree"}));
  CHECK(contains(place.last, "0 files"));
}

TEST_CASE("a copy that was interrupted is made anew, another boot's is not believed") {
  Place place;
  place.put("file", std::string(100'000, 'x'));
  REQUIRE(place.stage({"file"}));
  // As a copy leaves it that was killed: the time is not set yet.
  const int fd = ::open(place.staged("file").c_str(), O_WRONLY);
  REQUIRE(::pwrite(fd, "garbage", 7, 5000) == 7);
  REQUIRE(::close(fd) == 0);
  REQUIRE(place.stage({"file"}));
  CHECK(place.read("file") == std::string(100'000, 'x'));
  const ino_t before = inode_of(place.staged("file"));
  REQUIRE(write_file(place.folder.file("stage/boot"), "another boot\n"));
  REQUIRE(place.stage({"file"}));
  CHECK(contains(place.last, "1 file,"));
  CHECK(place.read("file").size() == 100'000);
  CHECK(before != 0);
}

TEST_CASE("a file is in the way of a folder, and the other way round") {
  Place place;
  place.put("thing", "file");
  REQUIRE(place.stage({"thing"}));
  REQUIRE(remove_all(place.source("thing")));
  REQUIRE(make_folders(place.source("thing/inner")));
  REQUIRE(place.stage({"thing"}));
  CHECK(exists(place.staged("thing/inner")));
  REQUIRE(remove_all(place.source("thing")));
  place.put("thing", "file again");
  REQUIRE(place.stage({"thing"}));
  CHECK(place.read("thing") == "file again");
}

TEST_CASE("a large file is copied in parts, a sparse one stays sparse") {
  Place place;
  const int fd = ::open(place.source("sparse").c_str(), O_RDWR | O_CREAT, 0600);
  const off_t size = static_cast<off_t>(2 * k_part + 12'345);
  REQUIRE(::ftruncate(fd, size) == 0);
  REQUIRE(::pwrite(fd, "middle", 6, static_cast<off_t>(k_part) - 3) == 6);
  REQUIRE(::pwrite(fd, "end", 3, size - 3) == 3);
  REQUIRE(::close(fd) == 0);
  REQUIRE(place.stage({"sparse"}));
  CHECK(run({"cmp", place.source("sparse"), place.staged("sparse")}) == 0);

  struct stat info {};

  REQUIRE(::stat(place.staged("sparse").c_str(), &info) == 0);
  CHECK(info.st_size == size);
  CHECK(info.st_blocks * 512 < static_cast<off_t>(4 * k_block));
}

TEST_CASE("the hash of a part is that of its bytes, wherever holes are") {
  const TemporaryFolder folder;
  const std::string zeros(3 * k_block, '\0');
  std::string text = zeros;
  text[k_block + 7] = 'x';
  REQUIRE(write_file(folder.file("a"), text, 0600, Durability::deferred));
  const Range all{0, text.size()};
  REQUIRE(run({"cp", "--sparse=always", folder.file("a"), folder.file("b")}) == 0);
  CHECK(hash_part(folder.file("a"), all).value() == hash_part(folder.file("b"), all).value());
  text[k_block + 7] = '\0';
  text[7] = 'x';  // the same bytes in another block
  REQUIRE(write_file(folder.file("b"), text, 0600, Durability::deferred));
  CHECK(hash_part(folder.file("a"), all).value() != hash_part(folder.file("b"), all).value());
  REQUIRE(write_file(folder.file("b"), zeros, 0600, Durability::deferred));
  CHECK(hash_part(folder.file("b"), all).value() == 0);
}

TEST_CASE("bytes that are read back otherwise are an error") {
  const TemporaryFolder folder;
  REQUIRE(write_file(folder.file("a"), std::string(1000, 'x')));
  // Somebody else's bytes in what the source says are zeros.
  REQUIRE(write_file(folder.file("zero"), std::string(1000, '\0')));
  REQUIRE(write_file(folder.file("b"), "other"));
  const auto told = [](std::uint64_t) {};
  CHECK(copy_part(folder.file("a"), folder.file("c"), {0, 1000}, told));
  const auto copied = copy_part(folder.file("zero"), folder.file("b"), {0, 1000}, told);
  REQUIRE_FALSE(copied);
  CHECK(contains(copied.error().message, "other bytes are read back"));
}

TEST_CASE("sources that are gone, or no files, are reported at once, and nothing is copied") {
  Place place;
  place.put("good", "good");
  REQUIRE(make_folders(place.source("tree")));
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = place.source("tree/socket");
  REQUIRE(name.size() < sizeof address.sun_path);
  name.copy(address.sun_path, name.size());
  REQUIRE(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  const auto staged = place.stage({"good", "gone", "tree"});
  ::close(fd);
  REQUIRE_FALSE(staged);
  CHECK(contains(staged.error().message, "cannot find " + place.source("gone")));
  CHECK(contains(staged.error().message, "neither a file nor a folder"));
  CHECK_FALSE(exists(place.staged("good")));
}

TEST_CASE("a file that may not be read is named, with the option") {
  Place place;
  place.put("secret", "x");
  REQUIRE(::chmod(place.source("secret").c_str(), 0) == 0);
  REQUIRE(::chmod(place.folder.path.c_str(), 0777) == 0);
  const int code = in_child([&] {
    if (::geteuid() == 0) {
      const std::string of_other = place.folder.file("other");
      if (::mkdir(of_other.c_str(), 0700) != 0 || ::chown(of_other.c_str(), 65534, 65534) != 0)
        return 1;
      if (::chmod(place.folder.file("source").c_str(), 0755) != 0 || ::setuid(65534) != 0) return 2;
    }
    StageOrder order;
    order.folder = ::geteuid() == 65534 ? place.folder.file("other") : place.folder.file("stage");
    order.items = {spec::parse_stage_item(place.source("secret")).value()};
    const auto staged = stage_all(order, [](const std::string&) {});
    if (staged) return 3;
    return contains(staged.error().message, "--stage " + place.source("secret")) &&
                   contains(staged.error().message, "Permission denied")
               ? k_as_expected
               : 4;
  });
  CHECK(code == k_as_expected);
}

TEST_CASE("a failure is kept in one line, with what to do, until it is staged") {
  Place place;
  CHECK_FALSE(place.stage({"a", "b"}));
  const std::string both = read_failure(place.folder.file("stage"));
  CHECK(both.starts_with("--stage " + place.source("a") + ": cannot find " + place.source("a") +
                         " on this node: No such file or directory (is it on a file system that "
                         "all nodes mount?); --stage " +
                         place.source("b") + ": "));
  CHECK_FALSE(contains(both, "\n"));
  place.put("a", "x");
  CHECK_FALSE(place.stage({"a", "b"}));
  CHECK(read_failure(place.folder.file("stage")).starts_with("--stage " + place.source("b")));
  place.put("b", "x");
  REQUIRE(place.stage({"a", "b"}));
  CHECK(read_failure(place.folder.file("stage")).empty());
}

TEST_CASE("too little space is found before anything is copied") {
  Place place;
  place.put("large", std::string(600'000, 'x'));
  place.put("small", "x");
  const int code = in_child([&] {
    if (!tests::mount_small_disk(place.folder.file("stage"), 256)) return k_not_allowed;
    const auto staged = place.stage({"small", "large"});
    if (staged) return 1;
    if (!contains(staged.error().message, "--stage needs 58")) return 2;  // KiB
    if (!contains(staged.error().message, "are free")) return 3;
    return exists(place.staged("small")) ? 4 : k_as_expected;
  });
  if (code == k_not_allowed)
    MESSAGE("skipped: no mount namespace for this user");
  else
    CHECK(code == k_as_expected);
}

TEST_CASE("a disk that others fill meanwhile is an error with the file's name") {
  Place place;
  const int code = in_child([&] {
    if (!tests::mount_small_disk(place.folder.file("stage"), 512)) return k_not_allowed;
    // Sparse as the source's file system tells it, but full of other bytes when they are read: what
    // a compressing file system does. Here a file that says it has no blocks stands in for it.
    const auto copied = copy_part(
        "/dev/urandom", place.folder.file("stage/x"), {0, 1U << 20}, [](std::uint64_t) {});
    if (copied) return 1;
    return contains(copied.error().message, "stage/x") &&
                   contains(copied.error().message, "No space left")
               ? k_as_expected
               : 2;
  });
  if (code == k_not_allowed)
    MESSAGE("skipped: no mount namespace for this user");
  else
    CHECK(code == k_as_expected);
}

TEST_CASE("archives are unpacked, once") {
  Place place;
  REQUIRE(make_folders(place.source("in/a")));
  place.put("in/a/b", "inside");
  for (const char* end : {".tar", ".tar.gz", ".tar.xz"}) {
    CAPTURE(end);
    const std::string name = std::string("data") + end;
    REQUIRE(run({"tar", "-caf", place.source(name), "-C", place.source("in"), "a"}) == 0);
    REQUIRE(place.stage({name + ":out/x/"}));
    CHECK(place.read("out/x/a/b") == "inside");
    const ino_t first = inode_of(place.staged("out/x/a/b"));
    REQUIRE(place.stage({name + ":out/x/"}));
    CHECK(inode_of(place.staged("out/x/a/b")) == first);
    CHECK(contains(place.last, "0 archives"));
  }
}

TEST_CASE("an archive that is damaged is an error, and is not taken for unpacked") {
  Place place;
  place.put("data.tar.gz", "this is no archive");
  for (int i = 0; i < 2; ++i) {
    const auto staged = place.stage({"data.tar.gz:x/"});
    REQUIRE_FALSE(staged);
    CHECK(contains(staged.error().message, "tar could not unpack"));
  }
  REQUIRE(make_folders(place.source("folder.tar")));
  CHECK_FALSE(place.stage({"folder.tar:x/"}));
}

TEST_CASE("an archive cannot write outside of its folder") {
  Place place;
  place.put("evil", "evil");
  REQUIRE(run({"tar",
               "-cPf",
               place.source("evil.tar"),
               "--transform",
               "s|.*|../../escaped|",
               place.source("evil")}) == 0);
  (void)place.stage({"evil.tar:x/"});
  CHECK_FALSE(exists(place.folder.file("stage/escaped")));
  CHECK_FALSE(exists(place.staged("escaped")));
}

}  // namespace dts::stage
