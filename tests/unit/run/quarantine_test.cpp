// SPDX-License-Identifier: Apache-2.0
// Who is in quarantine, by the published rule, on clocks of the tests' own; and its file.
#include "core/base/files/files.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/units.hpp"
#include "core/run/index/quarantine_file.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <thread>

namespace {

using namespace dts;
using namespace dts::run;
using namespace std::chrono_literals;

const WallTime k_begin = *parse_utc("2026-11-01T00:00:00Z");

Strike strike(std::chrono::minutes at,
              const char* cause,
              const char* run,
              const char* node = "n1") {
  return {format_utc(k_begin + at), node, cause, run, 1, "why"};
}

// Hours from `at` until n1 is let out; 0: it is not in quarantine.
long hours_left(const std::vector<Strike>& strikes, std::chrono::minutes at) {
  const auto all = quarantined(strikes, k_begin + at);
  return all.empty() ? 0
                     : std::chrono::ceil<std::chrono::hours>(all[0].until - (k_begin + at)).count();
}

}  // namespace

TEST_CASE("the strikes that quarantine a node, for how long, and when they expire") {
  const struct {
    const char* what;
    std::vector<Strike> strikes;
    std::chrono::minutes at;
    long hours;
  } table[] = {
      {"nothing", {}, 0h, 0},
      {"one pre-flight", {strike(0h, "preflight", "a")}, 0h, 24},
      {"one rank with wrong bits", {strike(0h, "corruption", "a")}, 0h, 24},
      {"one GPU error", {strike(0h, "gpu_error", "a")}, 0h, 24},
      {"a minute before its end", {strike(0h, "preflight", "a")}, 24h - 1min, 1},
      {"its end", {strike(0h, "preflight", "a")}, 24h, 0},
      {"one hang", {strike(0h, "hang", "a")}, 0h, 0},
      {"one launch", {strike(0h, "launch_failed", "a")}, 0h, 0},
      {"two of one run", {strike(0h, "hang", "a"), strike(1h, "hang", "a")}, 1h, 0},
      {"two of two runs", {strike(0h, "hang", "a"), strike(1h, "launch_failed", "b")}, 1h, 24},
      {"24 h apart", {strike(0h, "hang", "a"), strike(24h, "hang", "b")}, 24h, 24},
      {"more", {strike(0h, "hang", "a"), strike(24h + 1min, "hang", "b")}, 24h + 1min, 0},
      {"a third beside the second",
       {strike(0h, "hang", "a"), strike(25h, "hang", "a"), strike(26h, "hang", "b")},
       26h,
       24},
      {"again while in it", {strike(0h, "preflight", "a"), strike(1h, "preflight", "a")}, 1h, 23},
      {"again after it", {strike(0h, "preflight", "a"), strike(25h, "gpu_error", "b")}, 25h, 48},
      {"a third time",
       {strike(0h, "preflight", "a"), strike(25h, "preflight", "b"), strike(80h, "preflight", "c")},
       80h,
       96},
      {"at most 8 days",
       {strike(0h, "preflight", "a"),
        strike(25h, "preflight", "b"),
        strike(80h, "preflight", "c"),
        strike(200h, "preflight", "d"),
        strike(400h, "preflight", "e")},
       400h,
       192},
      {"forgotten after 30 days",
       {strike(0h, "preflight", "a"), strike(721h, "preflight", "b")},
       721h,
       24},
      {"released", {strike(0h, "preflight", "a"), strike(1h, "released", "")}, 1h, 0},
      {"and again",
       {strike(0h, "preflight", "a"), strike(1h, "released", ""), strike(2h, "preflight", "b")},
       2h,
       24},
      {"a node whose clock is ahead", {strike(500h, "preflight", "a")}, 0h, 24},
      {"another cause", {strike(0h, "user_exit", "a")}, 0h, 0},
  };

  for (const auto& row : table) {
    CAPTURE(row.what);
    CHECK(hours_left(row.strikes, row.at) == row.hours);
  }
}

TEST_CASE("nodes in quarantine are sorted by time, each with its reason") {
  const auto all = quarantined({strike(2h, "preflight", "b", "n2"),
                                strike(1h, "gpu_error", "a", "n1"),
                                strike(3h, "hang", "c", "n3")},
                               k_begin + 4h);
  REQUIRE(all.size() == 2);
  CHECK(all[0].node == "n1");
  CHECK(all[1].node == "n2");
  CHECK(all[1].last.cause == "preflight");
  CHECK(all[1].last.run == "b");
  CHECK(format_utc(all[1].until) == "2026-11-02T02:00:00Z");
}

TEST_CASE("which ends of an attempt are strikes, and on whom") {
  Outcome two_unfit{Cause::launch_failed, 1, "", {}, "n1"};
  two_unfit.unfit = {{"n1", "a"}, {"n3", "b"}};

  const struct {
    Outcome outcome;
    const char* strikes;
  } table[] = {
      {{Cause::gpu_error, 1, "", {}, "n1"}, "n1:gpu_error"},
      {{Cause::gpu_error, 1, "", {}, ""}, ""},
      {{Cause::corruption, 94, "", 2, "n3"}, "n3:corruption"},
      {{Cause::hang, 137, "", 3, "n2"}, "n2:hang"},
      {{Cause::launch_failed, 1, "", {}, "n1"}, "n1:launch_failed"},
      {two_unfit, "n1:preflight n3:preflight"},
      {{Cause::rendezvous, 1, "rank 0 on n1 exited 1: timed out", 0, "n1"}, "n1:rendezvous"},
      {{Cause::rendezvous, 1, "code: -98, name: EADDRINUSE", 0, "n1"}, ""},
      {{Cause::user_exit, 1, "", 0, "n1"}, ""},
      {{Cause::rank_killed, 137, "", 0, "n1"}, ""},
      {{Cause::out_of_memory, 1, "", 0, "n1"}, ""},
  };

  for (const auto& row : table) {
    std::vector<std::string> words;
    for (const Strike& one : strikes_of(row.outcome, "/runs/a", 2)) {
      words.push_back(one.node + ":" + one.cause);
      CHECK(one.run == "/runs/a");
      CHECK(one.attempt == 2);
    }
    CHECK(join(words, " ") == row.strikes);
  }
}

TEST_CASE("invalid lines are skipped, the others are unchanged") {
  const Strike one{"2026-11-01T00:00:00Z", "n1", "preflight", "/runs/a", 3, "a \"reason\"\n"};
  const std::string line = to_line(one);
  const auto back = parse_strikes("\n{\n[]\nnull\n{\"node\":\"n1\"}\n" + line + "\n{\"time\":7}\n" +
                                  line + "\n" + line.substr(0, 20));
  REQUIRE(back.size() == 2);
  CHECK(to_line(back[0]) == line);
  CHECK(back[1].detail == one.detail);
  CHECK(parse_strikes(R"({"time":"yesterday","node":"n1","cause":"hang"})").empty());
  CHECK(parse_strikes(R"({"time":"2026-11-01T00:00:00Z","node":"","cause":"hang"})").empty());
}

TEST_CASE("the file is the user's own, is made where it is absent, and outlives half a line") {
  const tests::TemporaryFolder folder;
  const std::string path = folder.path + "/state/dtsubmit/quarantine/c.jsonl";
  CHECK(read_strikes(path).value().empty());
  REQUIRE(add_strikes(path, {strike(0h, "preflight", "a")}, k_begin));

  struct stat found {};

  REQUIRE(::stat(path.c_str(), &found) == 0);
  CHECK((found.st_mode & 0777U) == 0600);
  REQUIRE(append_line(path, R"({"time": "2026-1)"));
  REQUIRE(write_file(path, read_file(path).value().substr(0, read_file(path)->size() - 1)));
  REQUIRE(add_strikes(path, {strike(0h, "gpu_error", "b", "n2")}, k_begin + 1h));
  const auto strikes = read_strikes(path);
  REQUIRE(strikes);
  REQUIRE(strikes->size() == 2);
  CHECK(strikes->at(1).node == "n2");
  CHECK(strikes->at(1).time == "2026-11-01T01:00:00Z");
}

TEST_CASE("the file stays small and keeps the strikes that count") {
  const tests::TemporaryFolder folder;
  const std::string path = folder.path + "/c.jsonl";
  std::string old;
  const std::string line = to_line(strike(0h, "preflight", "a")) + "\n";
  while (old.size() < (std::size_t{300} << 10)) old += line;
  REQUIRE(write_file(path, old));
  const WallTime later = k_begin + 31 * 24h;
  REQUIRE(add_strikes(path, {strike(0h, "preflight", "b", "n2")}, later));
  CHECK(read_file(path)->size() < 1000);
  const auto all = quarantined(read_strikes(path).value(), later);
  REQUIRE(all.size() == 1);
  CHECK(all[0].node == "n2");
}

TEST_CASE("many at once lose nothing") {
  const tests::TemporaryFolder folder;
  const std::string path = folder.path + "/c.jsonl";
  std::vector<std::thread> writers;
  for (int i = 0; i < 8; ++i)
    writers.emplace_back([&path] {
      for (int k = 0; k < 5; ++k) (void)add_strikes(path, {strike(0h, "hang", "a")}, k_begin);
    });
  for (std::thread& writer : writers) writer.join();
  CHECK(read_strikes(path)->size() == 40);
}
