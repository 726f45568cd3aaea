// SPDX-License-Identifier: Apache-2.0
// Who holds an attempt, and whether that process still lives.
#include "core/run/directory/lease.hpp"

#include "core/base/files/files.hpp"
#include "core/base/os/process.hpp"
#include "core/base/os/process_table.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace {

using namespace dts;
using namespace dts::run;

std::string here() {
  char name[256]{};
  ::gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace

TEST_CASE("a lease is read back as it was written; other text is refused") {
  const tests::TemporaryFolder folder;
  const RunDirectory run{folder.path};
  REQUIRE(make_folders(run.attempt(1)));
  CHECK(read_lease(run, 1).error().code == Errc::not_found);
  REQUIRE(write_file(run.attempt(1) + "/epoch", to_json({JobId(7), 2, "n1", 123, 456})));
  const Lease lease = read_lease(run, 1).value();
  CHECK(lease.job == JobId(7));
  CHECK(lease.restart_count == 2);
  CHECK(lease.node == "n1");
  CHECK(lease.pid == 123);
  CHECK(lease.started == 456);
  const std::string array = to_json({JobId::parse("4711_3").value(), 2, "n1", 123, 456});
  CHECK(array.starts_with("{\"job\":\"4711_3\","));
  REQUIRE(write_file(run.attempt(1) + "/epoch", array));
  CHECK(read_lease(run, 1)->job == JobId::parse("4711_3"));
  for (const char* text : {"", "{", "[]", "{\"pid\": 1}", "{\"job\": \"x\"}", "7"}) {
    CAPTURE(text);
    REQUIRE(write_file(run.attempt(1) + "/epoch", text));
    CHECK(read_lease(run, 1).error().code == Errc::invalid);
  }
}

TEST_CASE("the holder is known by host, pid, name and start") {
  // A process of our agent's name that we may ask for.
  const tests::TemporaryFolder folder;
  const std::string program = folder.file("dtsubmit");
  REQUIRE(write_file(program, read_file("/bin/sleep").value(), 0700));
  Command command;
  command.argv = {program, "60"};
  command.own_group = true;
  const pid_t pid = start_process(command).value();
  const std::uint64_t started = process_info(pid)->started;
  CHECK(holder_of({{}, 0, here(), pid, started}) == Holder::alive);
  CHECK(holder_of({{}, 0, here(), pid, 0}) == Holder::alive);  // of an earlier release
  CHECK(holder_of({{}, 0, here(), pid, started + 1}) == Holder::gone);
  CHECK(holder_of({{}, 0, here(), ::getpid(), 0}) == Holder::gone);  // of another name
  CHECK(holder_of({{}, 0, "elsewhere.invalid", pid, started}) == Holder::elsewhere);
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  CHECK(holder_of({{}, 0, here(), pid, started}) == Holder::gone);
}
