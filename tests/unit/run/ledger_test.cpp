// SPDX-License-Identifier: Apache-2.0
// The ledger: what is appended is read, half a record never is, and a bad line is named.
#include "core/run/ledger/ledger.hpp"

#include "core/base/files/files.hpp"
#include "core/base/text/text.hpp"
#include "core/run/event/event_line.hpp"
#include "tests/support/many_writers.hpp"
#include "tests/support/source_dir.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <iterator>

namespace {

using namespace dts;
using namespace dts::run;
using tests::in_child;
using tests::TemporaryFolder;

// One of each, with every member that it has.
std::vector<Event> all_events() {
  const std::vector<EventData> whats{
      Created{},
      Submitted{"found by its script"},
      Resumed{"asked for by `dtsubmit requeue`"},
      AttemptStarted{"spare: n3", {"n1", "n2"}, "step-000000100"},
      RanksStarted{"4 ranks, master 10.0.0.1 port 29500"},
      StopRequested{Cause::preempted, "signal 15"},
      AttemptEnded{.cause = Cause::rank_killed,
                   .exit_code = 137,
                   .detail = "rank 3 on n1: \"its\" process vanished",
                   .checkpoint = "step-000000120",
                   .part = "train",
                   .rank = 3,
                   .node = "n1",
                   .step = 127,
                   .saved = true,
                   .unsaved = true,
                   .save = Seconds(0.5),
                   .stalled = Seconds(300)},
      Decided{85, Action::restart, "crash 1 of 3", "n3", {{"computing", 12.5}, {"wall", 13}}},
      Requeued{"x"},
      Resubmitted{"x"},
      NodeUnfit{"no GPU", "n2"},
      Advised{"save every 2 min", Seconds(120), Seconds(21600), Seconds(4)},
      Straggler{"rank 3 on n1 is slow", 3, "n1", SlowPhase::input, Seconds(0.2), Seconds(0.6)},
      Binding{"rank 0: another core"},
      Warning{"cannot ask the scheduler"},
      Quiet{"no output", 0, "n1"},
      Heard{"its programs show activity again"},
      run::Staging{"n1 has half of it", "n1"}};
  std::vector<Event> events;
  for (const EventData& what : whats)
    events.push_back(
        {.time = "2026-01-02T03:04:05Z", .attempt = 3, .job = JobId(4'294'967'295U), .what = what});
  return events;
}

// The same on disk, without what is common to all. A change here breaks ledgers that were written.
constexpr const char* k_all_lines[] = {
    R"("created")",
    R"("submitted","detail":"found by its script")",
    R"("resumed","detail":"asked for by `dtsubmit requeue`")",
    R"("attempt_started","detail":"spare: n3","nodes":["n1","n2"],"checkpoint":"step-000000100")",
    R"("ranks_started","detail":"4 ranks, master 10.0.0.1 port 29500")",
    R"("stop_requested","cause":"preempted","detail":"signal 15")",
    R"("attempt_ended","cause":"rank_killed","exit_code":137,)"
    R"("detail":"rank 3 on n1: \"its\" process vanished","checkpoint":"step-000000120",)"
    R"("part":"train","rank":3,"node":"n1","step":127,"saved":true,"unsaved":true,"seconds":{"save":0.5,"stalled":300.0})",
    R"("decided","exit_code":85,"decision":"restart","detail":"crash 1 of 3","exclude":"n3",)"
    R"("seconds":{"computing":12.5,"wall":13.0})",
    R"("requeued","detail":"x")",
    R"("resubmitted","detail":"x")",
    R"("node_unfit","detail":"no GPU","node":"n2")",
    R"("advised","detail":"save every 2 min","seconds":{"every":120.0,"failure":21600.0,"save":4.0})",
    R"("straggler","detail":"rank 3 on n1 is slow","rank":3,"node":"n1","phase":"input",)"
    R"("seconds":{"others":0.2,"own":0.6})",
    R"("binding","detail":"rank 0: another core")",
    R"("warning","detail":"cannot ask the scheduler")",
    R"("quiet","detail":"no output","rank":0,"node":"n1")",
    R"("heard","detail":"its programs show activity again")",
    R"("staging","detail":"n1 has half of it","node":"n1")"};

// `line`, whose members begin with its event's name, with time, attempt and job.
std::string whole_line(std::string line) {
  const std::string common = R"(,"attempt":3,"job":4294967295)";
  line.insert(line.find('"', 1) + 1, common);
  return R"({"time":"2026-01-02T03:04:05Z","event":)" + line + "}";
}

Event full_event() {
  return all_events()[6];
}

void check_equal(const Event& a, const Event& b) {
  CHECK(to_line(a) == to_line(b));
  CHECK(a.what.index() == b.what.index());
}

}  // namespace

TEST_CASE("every event is written as it always was, and read back as it was") {
  const std::vector<Event> events = all_events();
  REQUIRE(events.size() == std::size(k_all_lines));
  REQUIRE(events.size() + 1 == std::variant_size_v<EventData>);
  for (std::size_t i = 0; i < events.size(); ++i) {
    const std::string line = whole_line(k_all_lines[i]);
    CHECK(to_line(events[i]) == line);
    const Ledger ledger = parse_ledger(line + "\n");
    CHECK(ledger.damaged.empty());
    REQUIRE(ledger.events.size() == 1);
    check_equal(ledger.events.front(), events[i]);
    CHECK(event_name(ledger.events.front()) == event_name(events[i]));
  }
}

TEST_CASE("a job whose id is no number has it as text") {
  const Event event{.time = "t", .job = JobId::parse("4711_3").value(), .what = Submitted{}};
  CHECK(to_line(event) == R"({"time":"t","event":"submitted","job":"4711_3"})");
  check_equal(parse_ledger(to_line(event) + "\n").events.at(0), event);
  CHECK(parse_ledger(R"({"time":"t","event":"submitted","job":"a b"})"
                     "\n")
            .damaged.size() == 1);
}

TEST_CASE("fields with their default value are omitted from the line") {
  for (const Event& event : all_events()) {
    Event empty{.time = "t", .what = event.what};
    std::visit([](auto& what) { what = {}; }, empty.what);
    CHECK(to_line(empty) == fmt::format(R"({{"time":"t","event":"{}"}})", event_name(event)));
    CHECK(to_line(parse_ledger(to_line(empty) + "\n").events.at(0)) == to_line(empty));
  }
}

TEST_CASE("an event of a later release is there, and is written again as it was") {
  const std::string line =
      R"({"event":"moved","time":"t","attempt":2,"job":7,"from":{"node":["n1"]},"detail":"to n2"})";
  const Ledger ledger = parse_ledger(line + "\n");
  CHECK(ledger.damaged.empty());
  REQUIRE(ledger.events.size() == 1);
  const Event& event = ledger.events.front();
  REQUIRE(event.is<Unknown>());
  CHECK(event_name(event) == "moved");
  CHECK(detail_of(event) == "to n2");
  CHECK(event.attempt == 2);
  CHECK(event.job == JobId(7));
  CHECK(to_line(event) == line);
}

TEST_CASE("a cause, a decision and a phase of a later release keep their names") {
  for (const std::string line :
       {R"({"time":"t","event":"attempt_ended","attempt":1,"cause":"struck_by_lightning"})",
        R"({"time":"t","event":"decided","attempt":1,"decision":"pray"})",
        R"({"time":"t","event":"straggler","attempt":1,"rank":0,"phase":"evaluation"})"}) {
    const Ledger ledger = parse_ledger(line + "\n");
    REQUIRE(ledger.events.size() == 1);
    CHECK(to_line(ledger.events.front()) == line);
  }
  const auto named = Recorded<Cause>::named("struck_by_lightning");
  CHECK_FALSE(named.value());
  CHECK_FALSE(named.empty());
  CHECK(named != Cause::hang);
  CHECK(Recorded<Cause>::named("hang") == Cause::hang);
}

TEST_CASE("a number of -1 is none, as earlier releases wrote it") {
  const Event event =
      parse_ledger(R"({"time":"t","event":"attempt_ended","exit_code":-1,"rank":-1,)"
                   R"("step":-1})"
                   "\n")
          .events.at(0);
  const auto* ended = event.as<AttemptEnded>();
  REQUIRE(ended != nullptr);
  CHECK_FALSE(ended->exit_code);
  CHECK_FALSE(ended->rank);
  CHECK_FALSE(ended->step);
}

TEST_CASE("ledgers that real runs left are read whole, and written again byte for byte") {
  for (const char* name : {"preempted", "failed", "nodes"}) {
    CAPTURE(name);
    const std::string text =
        read_file(tests::in_source(fmt::format("tests/data/ledgers/{}.jsonl", name))).value();
    const Ledger ledger = parse_ledger(text);
    CHECK(ledger.damaged.empty());
    std::string again;
    for (const Event& event : ledger.events) {
      CHECK_FALSE(event.is<Unknown>());
      again += to_line(event) + "\n";
    }
    CHECK(again == text);
  }
}

TEST_CASE("appending sets the time and a mode that only the owner can read") {
  const TemporaryFolder folder;
  const std::string path = folder.file("ledger.jsonl");
  REQUIRE(append_event(path, {.what = Created{}}));
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
  const std::string first = to_line({.time = "t", .what = Created{}}) + "\n";
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
  REQUIRE(append_event(path, {.what = Created{}}));
  REQUIRE(write_file(path, read_file(path).value() + R"({"time":"2026-01)"));
  REQUIRE(append_event(path, {.what = Resumed{}}));
  const auto events = read_ledger(path);
  REQUIRE(events);
  REQUIRE(events->size() == 2);
  CHECK(events->at(1).is<Resumed>());
}

TEST_CASE("a ledger that is only half a record is begun anew") {
  const TemporaryFolder folder;
  const std::string path = folder.file("ledger.jsonl");
  REQUIRE(write_file(path, "{\"ti"));
  CHECK(read_ledger(path)->empty());
  REQUIRE(append_event(path, {.what = Created{}}));
  CHECK(read_ledger(path)->size() == 1);
}

TEST_CASE("a line that is no event is passed over and numbered, wherever it is") {
  const std::string good = to_line({.time = "t", .what = Created{}}) + "\n";
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
  CHECK(ledger.events.front().job == JobId(3));
  CHECK(ledger.events.front().is<Created>());
}

TEST_CASE("damage is reported in one sentence, with the file and the lines") {
  CHECK(damage_words(Ledger{}, "runs/a/ledger.jsonl").empty());
  CHECK(damage_words(Ledger{{}, {3}}, "runs/a/ledger.jsonl") ==
        "runs/a/ledger.jsonl: line 3 is damaged and skipped");
  CHECK(damage_words(Ledger{{}, {3, 5, 6, 7}}, "l") == "l: lines 3,5-7 are damaged and skipped");
  CHECK(damage_words(Ledger{{}, {}, true}, "l").find("l is gone or empty") == 0);
  Ledger ruin;
  for (unsigned line = 1; line < 10'000; line += 2) ruin.damaged.push_back(line);
  CHECK(damage_words(ruin, "l").size() < 1000);
  CHECK(damage_words(ruin, "l").find("and 4900 more are damaged") != std::string::npos);
}

TEST_CASE("NULs behind the last line are damage that is named, though it is not ended") {
  const std::string good = to_line({.time = "t", .what = Created{}}) + "\n";
  for (const std::string& tail : {std::string(3000, '\0'), "{\"ti" + std::string(7, '\0')}) {
    const Ledger ledger = parse_ledger(good + tail);
    CHECK(ledger.events.size() == 1);
    CHECK(ledger.damaged == std::vector<unsigned>{2});
  }
  CHECK(parse_ledger(std::string(64, '\0')).damaged == std::vector<unsigned>{1});
}

TEST_CASE("an empty ledger counts as lost, like a missing one") {
  const TemporaryFolder folder;
  REQUIRE(write_file(folder.file("ledger.jsonl"), ""));
  const auto ledger = load_ledger(folder.file("ledger.jsonl"));
  REQUIRE(ledger);
  CHECK(ledger->absent);
  CHECK_FALSE(damage_words(*ledger, "l").empty());
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
  REQUIRE(append_event(path, {.what = Created{}}));
  REQUIRE(write_file(path, read_file(path).value() + std::string(100'000, '\0')));
  REQUIRE(append_event(path, {.what = Resumed{}}));
  const auto ledger = load_ledger(path);
  REQUIRE(ledger);
  CHECK(ledger->damaged.empty());
  REQUIRE(ledger->events.size() == 2);
  CHECK(ledger->events.back().is<Resumed>());
}

TEST_CASE("bytes that are not UTF-8 in a detail are escaped, not thrown") {
  const Ledger ledger = parse_ledger(to_line({.time = "t",
                                              .what = Decided{.detail = "a\xff"
                                                                        "b"}}) +
                                     "\n");
  REQUIRE(ledger.events.size() == 1);
  CHECK(detail_of(ledger.events.front()) ==
        "a\\xff"
        "b");
}

TEST_CASE("an absent ledger is not_found") {
  const TemporaryFolder folder;
  const auto events = read_ledger(folder.file("absent/ledger.jsonl"));
  REQUIRE_FALSE(events);
  CHECK(events.error().code == Errc::not_found);
}

TEST_CASE("an event that does not fit the disk leaves the ledger as it was") {
  const TemporaryFolder folder;
  const std::string path = folder.file("ledger.jsonl");
  REQUIRE(append_event(path, {.what = Created{}}));
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
      if (!append_event(path, {.attempt = writer + 1, .what = Decided{}})) return false;
    return true;
  });
  const auto events = read_ledger(path);
  REQUIRE(events);
  CHECK(events->size() == std::size_t{k_writers} * k_each);
}

TEST_CASE("what a program wrote is escaped and cut in the ledger, and again for who reads it") {
  Event event{.time = "t", .what = AttemptEnded{.detail = "a\x1b[2Jb" + std::string(16'000, '\r')}};
  const std::string line = to_line(event);
  CHECK(line.find("a\\\\x1b[2Jb") != std::string::npos);
  CHECK(line.size() < 3000);
  // A line that somebody else wrote, with an escape of JSON's own.
  const auto events =
      parse_ledger("{\"time\":\"t\",\"event\":\"decided\",\"detail\":\"\\u001b[2J\"}\n").events;
  REQUIRE(events.size() == 1);
  CHECK(detail_of(events.front()) == "\\x1b[2J");
}
