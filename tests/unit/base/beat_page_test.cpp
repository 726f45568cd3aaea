// SPDX-License-Identifier: Apache-2.0
// The heartbeat's page, from this process and from others.
#include "core/base/files/beat_page.hpp"

#include "core/base/os/process.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

using namespace dts;

TEST_CASE("a new page is all zero, and each word reaches whoever opens it by its path") {
  auto page = BeatPage::create();
  REQUIRE(page);
  CHECK(page->step() == 0);
  CHECK(page->save_milliseconds() == 0);
  auto other = BeatPage::open(page->path());
  REQUIRE(other);
  other->beat(41);
  other->saved(1234);
  other->worked(203);
  other->waited_for_input(12);
  page->advise(60'400);
  CHECK(page->step() == 41);
  CHECK(page->save_milliseconds() == 1234);
  CHECK(page->work_milliseconds() == 203);
  CHECK(page->input_milliseconds() == 12);
  CHECK(other->checkpoint_every_milliseconds() == 60'400);
  CHECK(other->checkpoint_every_seconds() == 60);
}

TEST_CASE("a program reports in one place that it is done, or that it is to be run again") {
  auto page = BeatPage::create();
  REQUIRE(page);
  CHECK_FALSE(page->finished());
  CHECK_FALSE(page->asks_again());
  page->finish();
  CHECK(page->finished());
  CHECK_FALSE(page->asks_again());
  page->ask_again();
  CHECK_FALSE(page->finished());
  CHECK(page->asks_again());
}

TEST_CASE("durations below a millisecond are reported, too") {
  auto page = BeatPage::create();
  REQUIRE(page);
  page->saved(0);
  page->worked(0);
  CHECK(page->save_milliseconds() == 1);
  CHECK(page->work_milliseconds() == 1);
}

// As in dtsubmit-beat(1).
TEST_CASE("a program in Python beats with one write, and reads the advice with one read") {
  auto page = BeatPage::create();
  REQUIRE(page);
  page->advise(93'000);
  Command command;
  command.argv = {"python3",
                  "-c",
                  "import os, sys; fd = os.open(os.environ['DTSUBMIT_BEAT'], os.O_RDWR)\n"
                  "os.pwrite(fd, (203).to_bytes(8, sys.byteorder), 24)\n"
                  "os.pwrite(fd, (77).to_bytes(8, sys.byteorder), 0)\n"
                  "print(int.from_bytes(os.pread(fd, 8, 16), sys.byteorder) / 1000)"};
  command.env = environment_with({{"DTSUBMIT_BEAT", page->path()}});
  const auto output = run_process(command, std::chrono::seconds(60));
  REQUIRE(output);
  CAPTURE(output->err);
  CHECK(output->exit_code == 0);
  CHECK(page->step() == 77);
  CHECK(page->work_milliseconds() == 203);
  CHECK(output->out == "93.0\n");
}

TEST_CASE(
    "a file that is not a page is refused, and a page cannot be truncated while it is mapped") {
  CHECK_FALSE(BeatPage::open("/nonexistent"));
  CHECK_FALSE(BeatPage::open(""));
  CHECK_FALSE(BeatPage::open("/proc/self/fd/12345"));
  const tests::TemporaryFolder folder;
  std::ofstream(folder.file("short")) << "8 bytes";
  CHECK_FALSE(BeatPage::open(folder.file("short")));
  auto page = BeatPage::create();
  REQUIRE(page);
  const UniqueFd file(::open(page->path().c_str(), O_RDWR));
  REQUIRE(file.valid());
  CHECK(::ftruncate(file.get(), 0) != 0);
  CHECK(page->step() == 0);
}

TEST_CASE("a page in a file reaches whoever opens the file, and cut off it is all zero") {
  const tests::TemporaryFolder folder;
  const std::string path = folder.file("beat");
  auto page = BeatPage::create_file(path);
  REQUIRE(page);
  CHECK(page->path() == path);
  auto other = BeatPage::open(path);
  REQUIRE(other);
  other->beat(41);
  CHECK(page->step() == 41);
  REQUIRE(::truncate(path.c_str(), 0) == 0);
  CHECK(page->step() == 0);
  page->advise(1000);
  CHECK_FALSE(BeatPage::open(path));
  CHECK(BeatPage::create_file(path));  // what a killed process has left is replaced
  CHECK_FALSE(BeatPage::create_file(folder.file("none/beat")));
}
