// SPDX-License-Identifier: Apache-2.0
// The folder of a run's staged files on a node: whose it is, who uses it, when it goes.
#include "core/stage/stage_folder.hpp"

#include "core/base/files/files.hpp"
#include "core/stage/meter.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <map>

namespace dts::stage {
namespace {

using tests::contains;
using tests::TemporaryFolder;

Lookup variables(std::map<std::string, std::string> all) {
  return [all = std::move(all)](const char* name) -> std::optional<std::string> {
    const auto found = all.find(name);
    return found == all.end() ? std::nullopt : std::optional(found->second);
  };
}

void make_old(const std::string& path) {
  const timespec times[2] = {{1000, 0}, {1000, 0}};
  REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
}

}  // namespace

TEST_CASE("the base is the node's own disk, as it is called there") {
  const TemporaryFolder folder;
  CHECK(stage_base(variables({})).value() == "/tmp");
  CHECK(stage_base(variables({{"TMPDIR", folder.path}})).value() == folder.path);
  CHECK(stage_base(variables({{"TMPDIR", "/no/such"}})).value() == "/tmp");
  CHECK(stage_base(variables({{"TMPDIR", "/"}, {"SLURM_TMPDIR", folder.path}})).value() ==
        folder.path);
  CHECK(stage_base(variables({{"DTSUBMIT_STAGE_BASE", folder.path}, {"TMPDIR", "/"}})).value() ==
        folder.path);
  for (const char* wrong : {"/no/such", "relative", "/tmp\n"})
    CHECK_FALSE(stage_base(variables({{"DTSUBMIT_STAGE_BASE", wrong}})));
}

TEST_CASE("each node and each run has a stage folder of its own, closed to other users") {
  const TemporaryFolder base;
  const Lookup lookup = variables({{"TMPDIR", base.path}});
  const auto one = open_stage_folder({"n0", "/runs/a"}, lookup);
  const auto two = open_stage_folder({"n1", "/runs/a"}, lookup);
  const auto three = open_stage_folder({"n0", "/other/a"}, lookup);
  const auto again = open_stage_folder({"n0", "/runs/a"}, lookup);
  REQUIRE((one && two && three && again));
  CHECK(one->path != two->path);
  CHECK(one->path != three->path);
  CHECK(one->path == again->path);

  struct stat info {};

  REQUIRE(::stat(one->path.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0700);
  CHECK(open_stage_folder({"../x", "/runs/../.. b"}, lookup)->path.find("..") == std::string::npos);
}

TEST_CASE("a folder that others can write to is refused") {
  const TemporaryFolder base;
  const Lookup lookup = variables({{"TMPDIR", base.path}});
  const std::string of_user = base.file("dtsubmit-stage-" + std::to_string(::geteuid()));
  REQUIRE(make_folders(of_user));
  REQUIRE(::chmod(of_user.c_str(), 0777) == 0);
  const auto folder = open_stage_folder({"n0", "/runs/a"}, lookup);
  REQUIRE_FALSE(folder);
  CHECK(contains(folder.error().message, of_user));
}

TEST_CASE("the folder of a lost job is removed, folders in use and new ones are kept") {
  const TemporaryFolder base;
  const Lookup lookup = variables({{"TMPDIR", base.path}});
  std::string left, fresh;
  {
    left = open_stage_folder({"n0", "/runs/left"}, lookup)->path;
    fresh = open_stage_folder({"n0", "/runs/fresh"}, lookup)->path;
  }
  const auto used = open_stage_folder({"n0", "/runs/used"}, lookup);
  const auto own = open_stage_folder({"n0", "/runs/own"}, lookup);
  REQUIRE((used && own));
  REQUIRE(make_folders(left + "/data/closed"));
  REQUIRE(::chmod((left + "/data/closed").c_str(), 0555) == 0);
  make_old(left);
  make_old(used->path);
  remove_left_stages(own->path);
  CHECK_FALSE(exists(left));
  CHECK(exists(fresh));
  CHECK(exists(used->path));
  CHECK(exists(own->path));
}

TEST_CASE("only a stage folder of ours is removed, whatever the record says") {
  const TemporaryFolder base;
  const Lookup lookup = variables({{"TMPDIR", base.path}});
  const std::string record = base.file("stage-n0");
  CHECK(remove_staged(record));
  const std::string path = open_stage_folder({"n0", "/runs/a"}, lookup)->path;
  REQUIRE(make_folders(path + "/data/x"));
  const std::string precious = base.file("precious");
  REQUIRE(make_folders(precious));
  for (const std::string& wrong : {precious,
                                   base.path,
                                   std::string("/"),
                                   std::string(""),
                                   path + "/..",
                                   path + "/data",
                                   std::string("relative")}) {
    CAPTURE(wrong);
    REQUIRE(record_stage(record, wrong));
    CHECK_FALSE(remove_staged(record));
  }
  CHECK(exists(precious));
  CHECK(exists(path));
  REQUIRE(record_stage(record, path));
  CHECK(remove_staged(record));
  CHECK_FALSE(exists(base.file("dtsubmit-stage-" + std::to_string(::geteuid()))));
  CHECK(remove_staged(record));
}

TEST_CASE("progress is read as it was written, and nothing else is") {
  const TemporaryFolder folder;
  CHECK_FALSE(read_progress(folder.path));
  {
    Meter meter(folder.path, [](const std::string&) {});
    meter.begin(100);
    meter.add(40);
  }
  CHECK(read_progress(folder.path) == Progress{40, 100});
  for (const char* text : {"", "1", "1 2 3", "a b", "-1 2", "1 99999999999999999999999"})
    CHECK_FALSE(parse_progress(text));
}

TEST_CASE("progress in words") {
  CHECK(format_bytes(0) == "0 B");
  CHECK(format_bytes(1023) == "1023 B");
  CHECK(format_bytes(1536) == "1.5 KiB");
  CHECK(format_bytes(std::uint64_t{40} << 30) == "40.0 GiB");
  CHECK(format_progress({50 << 20, 100 << 20}, 0, std::chrono::seconds(5)) ==
        "50.0 MiB of 100.0 MiB, 10.0 MiB/s, 5 s left");
  CHECK(format_progress({0, 100}, 0, std::chrono::seconds(5)) == "0 B of 100 B");
}

TEST_CASE("a line is said from time to time while bytes come") {
  const TemporaryFolder folder;
  std::string said;
  {
    Meter meter(
        folder.path,
        [&said](const std::string& line) { said = line; },
        std::chrono::milliseconds(5));
    meter.begin(1000);
    meter.add(10);
    for (int i = 0; i < 200 && !exists(folder.file("progress")); ++i) ::usleep(1000);
    ::usleep(100'000);
  }
  CHECK(contains(said, "staging: 10 B of 1000 B"));
}

}  // namespace dts::stage
