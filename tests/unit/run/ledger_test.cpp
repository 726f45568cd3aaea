// SPDX-License-Identifier: Apache-2.0
// The ledger: what is appended is read, half a record never is, and a bad line is named.
#include "core/run/ledger/ledger.hpp"

#include "core/base/text/text.hpp"
#include "tests/support/many_writers.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

namespace {

using namespace dts;
using namespace dts::run;
using tests::in_child;
using tests::TemporaryFolder;

Event full_event() {
  return {.time = "2026-01-02T03:04:05Z",
          .event = "attempt_ended",
          .attempt = 3,
          .job = 4'294'967'295U,
          .cause = "rank_killed",
          .exit_code = 137,
          .decision = "restart",
          .detail = "rank 3 on n1: \"its\" process vanished",
          .nodes = {"n1", "n2"},
          .checkpoint = "step-000000120",
          .rank = 3,
          .node = "n1",
          .phase = "save",
          .unsaved = true,
          .seconds = {{"computing", 12.5}, {"wall", 13}}};
}

void check_equal(const Event& a, const Event& b) {
  CHECK(a.time == b.time);
  CHECK(a.event == b.event);
  CHECK(a.attempt == b.attempt);
  CHECK(a.job == b.job);
  CHECK(a.cause == b.cause);
  CHECK(a.exit_code == b.exit_code);
  CHECK(a.decision == b.decision);
  CHECK(a.detail == b.detail);
  CHECK(a.nodes == b.nodes);
  CHECK(a.checkpoint == b.checkpoint);
  CHECK(a.rank == b.rank);
  CHECK(a.node == b.node);
  CHECK(a.phase == b.phase);
  CHECK(a.unsaved == b.unsaved);
  CHECK(a.seconds == b.seconds);
}

}  // namespace

TEST_CASE("an event with every field, and one with none, are read back as they were") {
  for (const Event& event : {full_event(), Event{.time = "t", .event = "created"}}) {
    const std::string line = to_line(event);
    CHECK(line.find('\n') == std::string::npos);
    const Ledger ledger = parse_ledger(line + "\n");
    CHECK(ledger.damaged.empty());
    REQUIRE(ledger.events.size() == 1);
    check_equal(ledger.events.front(), event);
  }
}

TEST_CASE("fields that say nothing are left out of the line") {
  CHECK(to_line({.time = "t", .event = "created"}) == R"({"time":"t","event":"created"})");
}

TEST_CASE("appending sets the time and a mode that only the owner can read") {
  const TemporaryFolder folder;
  const std::string path = folder.file("ledger.jsonl");
  REQUIRE(append_event(path, {.event = "created"}));
  REQUIRE(append_event(path, full_event()));
  const auto events = read_ledger(path);
  REQUIRE(events);
  REQUIRE(events->size() == 2);
  CHECK(events->at(0).time.size() == std::string("2026-01-02T03:04:05Z").size());
  CHECK(events->at(0).time.back() == 'Z');
  check_equal(events->at(1), full_event());

  struct stat info {};

  REQUIRE(::stat(path.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
}

TEST_CASE("half a last line, at every length of it, is left out") {
  const std::string first = to_line({.time = "t", .event = "created"}) + "\n";
  const std::string second = to_line(full_event()) + "\n";
  for (std::size_t length = 0; length < second.size(); ++length) {
    const Ledger ledger = parse_ledger(first + second.substr(0, length));
    CHECK(ledger.events.size() == 1);
    CHECK(ledger.damaged.empty());
  }
}

TEST_CASE("an append after half a record that a crash left gives a ledger that can be read") {
  const TemporaryFolder folder;
  const std::string path = folder.file("ledger.jsonl");
  REQUIRE(append_event(path, {.event = "created"}));
  REQUIRE(write_file(path, read_file(path).value() + R"({"time":"2026-01)"));
  REQUIRE(append_event(path, {.event = "resumed"}));
  const auto events = read_ledger(path);
  REQUIRE(events);
  REQUIRE(events->size() == 2);
  CHECK(events->at(1).event == "resumed");
}

TEST_CASE("a ledger that is only half a record is begun anew") {
  const TemporaryFolder folder;
  const std::string path = folder.file("ledger.jsonl");
  REQUIRE(write_file(path, "{\"ti"));
  CHECK(read_ledger(path)->empty());
  REQUIRE(append_event(path, {.event = "created"}));
  CHECK(read_ledger(path)->size() == 1);
}

TEST_CASE("a line that is no event is passed over and numbered, wherever it is") {
  const std::string good = to_line({.time = "t", .event = "created"}) + "\n";
  for (const std::string& bad :
       std::initializer_list<std::string>{"",
                                          "{",
                                          "[]",
                                          "null",
                                          "7",
                                          "{}",
                                          std::string(4096, '\0'),
                                          R"({"time":"t"})",
                                          R"({"event":"created"})",
                                          R"({"time":7,"event":"created"})",
                                          R"({"time":"t","event":"created","attempt":"one"})",
                                          R"({"time":"t","event":"created","attempt":-1})",
                                          R"({"time":"t","event":"created","job":4294967296})",
                                          R"({"time":"t","event":"created","job":1.5})",
                                          R"({"time":"t","event":"created","job":[1]})",
                                          R"({"time":"t","event":"created","rank":9999999999})",
                                          R"({"time":"t","event":"created","exit_code":-2})",
                                          R"({"time":"t","event":"created","unsaved":1})",
                                          R"({"time":"t","event":"created","nodes":"n1"})",
                                          R"({"time":"t","event":"created","nodes":[1]})",
                                          R"({"time":"t","event":"created","nodes":[["n1"]]})",
                                          R"({"time":"t","event":"created","seconds":{"a":"b"}})",
                                          R"({"time":"t","event":"created"} {})",
                                          "{\"time\":\"t\",\"event\":\"\xff\xfe\"}"}) {
    CAPTURE(bad);
    const Ledger ledger = parse_ledger(good + good + bad + "\n" + good);
    CHECK(ledger.events.size() == 3);
    CHECK(ledger.damaged == std::vector<unsigned>{3});
    CHECK(parse_ledger(bad + "\n").damaged == std::vector<unsigned>{1});
  }
}

TEST_CASE("a record that was written behind damage of its line is saved") {
  const std::string whole = to_line(full_event());
  for (const std::string& before :
       {std::string(64, '\0'), whole.substr(0, 40), std::string("{\"time\":\"2026-01-02T0")}) {
    const Ledger ledger = parse_ledger(before + whole + "\n");
    CHECK(ledger.damaged == std::vector<unsigned>{1});
    REQUIRE(ledger.events.size() == 1);
    check_equal(ledger.events.front(), full_event());
  }
}

TEST_CASE("members of a later release are passed over, whatever is in them") {
  const Ledger ledger = parse_ledger(
      R"({"time":"t","new":{"time":7,"nodes":[[1],{"a":null}]},"event":"created","old":[{"b":[]}],)"
      R"("job":3,"flag":true,"number":-2.5})"
      "\n");
  CHECK(ledger.damaged.empty());
  REQUIRE(ledger.events.size() == 1);
  CHECK(ledger.events.front().job == 3);
  CHECK(ledger.events.front().nodes.empty());
}

TEST_CASE("what is damaged is said in one sentence, with the file and the lines") {
  CHECK(damage_words(Ledger{}, "runs/a/ledger.jsonl").empty());
  CHECK(damage_words(Ledger{{}, {3}}, "runs/a/ledger.jsonl") ==
        "runs/a/ledger.jsonl: line 3 is damaged and skipped");
  CHECK(damage_words(Ledger{{}, {3, 5, 6, 7}}, "l") == "l: lines 3,5-7 are damaged and skipped");
  CHECK(damage_words(Ledger{{}, {}, true}, "l").find("l is gone") == 0);
  Ledger ruin;
  for (unsigned line = 1; line < 10'000; line += 2) ruin.damaged.push_back(line);
  CHECK(damage_words(ruin, "l").size() < 1000);
  CHECK(damage_words(ruin, "l").find("and 4900 more are damaged") != std::string::npos);
}

TEST_CASE("a ledger that is gone from a run directory has no events") {
  const TemporaryFolder folder;
  const auto ledger = load_ledger(folder.file("ledger.jsonl"));
  REQUIRE(ledger);
  CHECK(ledger->absent);
  CHECK(ledger->events.empty());
}

TEST_CASE("a ledger with damage in it is appended to, and goes on") {
  const TemporaryFolder folder;
  const std::string path = folder.file("ledger.jsonl");
  REQUIRE(append_event(path, {.event = "created"}));
  REQUIRE(write_file(path, read_file(path).value() + std::string(100'000, '\0')));
  REQUIRE(append_event(path, {.event = "resumed"}));
  const auto ledger = load_ledger(path);
  REQUIRE(ledger);
  CHECK(ledger->damaged.empty());
  REQUIRE(ledger->events.size() == 2);
  CHECK(ledger->events.back().event == "resumed");
}

TEST_CASE("bytes that are not UTF-8 in a detail are escaped, not thrown") {
  const Ledger ledger = parse_ledger(to_line({.time = "t",
                                              .event = "decided",
                                              .detail = "a\xff"
                                                        "b"}) +
                                     "\n");
  REQUIRE(ledger.events.size() == 1);
  CHECK(ledger.events.front().detail ==
        "a\\xff"
        "b");
}

TEST_CASE("an absent ledger is not_found") {
  const auto events = read_ledger("/nonexistent/ledger.jsonl");
  REQUIRE_FALSE(events);
  CHECK(events.error().code == Errc::not_found);
}

TEST_CASE("an event that does not fit the disk leaves the ledger as it was") {
  const TemporaryFolder folder;
  const std::string path = folder.file("ledger.jsonl");
  REQUIRE(append_event(path, {.event = "created"}));
  const std::string before = read_file(path).value();
  const int code = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{before.size() + 20, before.size() + 20};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto appended = append_event(path, full_event());
    return appended ? 0 : exit_code(appended.error().code);
  });
  CHECK(code == 74);
  CHECK(read_file(path).value() == before);
}

TEST_CASE("events of many processes at once are all there, each whole") {
  const TemporaryFolder folder;
  const std::string path = folder.file("ledger.jsonl");
  REQUIRE(write_file(path, "{\"half"));
  constexpr unsigned k_writers = 8, k_each = 20;
  dts::tests::write_at_once(k_writers, [&path](unsigned writer) {
    for (unsigned i = 0; i < k_each; ++i)
      if (!append_event(path, {.event = "decided", .attempt = writer + 1})) return false;
    return true;
  });
  const auto events = read_ledger(path);
  REQUIRE(events);
  CHECK(events->size() == std::size_t{k_writers} * k_each);
}

TEST_CASE("what a program wrote is escaped and cut in the ledger, and again for who reads it") {
  Event event{
      .time = "t", .event = "attempt_ended", .detail = "a\x1b[2Jb" + std::string(16'000, '\r')};
  const std::string line = to_line(event);
  CHECK(line.find("a\\\\x1b[2Jb") != std::string::npos);
  CHECK(line.size() < 3000);
  // A line that somebody else wrote, with an escape of JSON's own.
  const auto events =
      parse_ledger("{\"time\":\"t\",\"event\":\"decided\",\"detail\":\"\\u001b[2J\"}\n").events;
  REQUIRE(events.size() == 1);
  CHECK(events.front().detail == "\\x1b[2J");
}
