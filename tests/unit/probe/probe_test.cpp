// SPDX-License-Identifier: Apache-2.0
// What ranks of the probe write and read, and how two of them meet. The whole is tried on real
// clusters: tests/integration/doctor.py.
#include "core/base/net/net.hpp"
#include "core/probe/meeting.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <thread>

namespace dts::probe {
namespace {

Facts full() {
  Facts facts;
  facts.rank = 1;
  facts.world = 2;
  facts.host = "n1";
  facts.other_host = "n\xff";
  facts.where = "n0 port 29500";
  facts.trouble = "none";
  facts.met_after = 0.25;
  facts.file_after = 0.5;
  facts.clocks = Clocks{-0.75, 0.001, 16};
  facts.ssh = Ssh{false, "Connection refused"};
  facts.other_resolves = false;
  facts.memlock = 65536;
  facts.nofile = 1024;
  facts.cores = {0, 1, 2, 5};
  facts.reachable = {0, 1, 2, 3, 4, 5};
  facts.machine_cores = 8;
  facts.scratch = "/tmp";
  facts.scratch_free = std::uint64_t{1} << 40;
  facts.warned_after = 1.5;
  facts.not_warned = "no";
  return facts;
}

}  // namespace

TEST_CASE("what a rank writes is read as it was") {
  for (const Facts& facts : {full(), Facts{}}) {
    const auto read = parse_facts(to_text(facts));
    REQUIRE(read);
    CHECK(to_text(*read) == to_text(facts));
  }
  CHECK(parse_facts(to_text(full()))->other_host == "n\xff");
}

TEST_CASE("anything else is refused with a message") {
  for (const char* text :
       {"", "{", "[]", "null", "{}", R"({"rank":2,"world":2})", R"({"rank":0,"world":3})"})
    CHECK_FALSE(parse_facts(text));
  std::string text = to_text(full());
  text.replace(text.find("0.25"), 4, "\"soon\"");
  const auto read = parse_facts(text);
  REQUIRE_FALSE(read);
  CHECK(read.error().message.find("met_after") != std::string::npos);
}

TEST_CASE("two ranks meet, and compare what one clock says with itself") {
  auto listener = listen_on(0);
  REQUIRE(listener);
  const std::string port = std::to_string(local_port(listener->get()));
  const Lookup lookup = [&](const char* name) -> std::optional<std::string> {
    return std::string(name) == "MASTER_PORT" ? port : "127.0.0.1";
  };
  // The port is free again, and nobody else knows it.
  *listener = UniqueFd();
  std::thread other([&] {
    auto meeting = Meeting::hold(1, lookup, std::chrono::seconds(10));
    REQUIRE(meeting);
    CHECK(meeting->exchange("one", std::chrono::seconds(10)) == "zero");
    meeting->answer_clock();
  });
  auto meeting = Meeting::hold(0, lookup, std::chrono::seconds(10));
  REQUIRE(meeting);
  CHECK(meeting->where() == "127.0.0.1 port " + port);
  CHECK(meeting->exchange("zero", std::chrono::seconds(10)) == "one");
  const auto clocks = meeting->compare_clocks();
  other.join();
  REQUIRE(clocks);
  CHECK(clocks->exchanges == 16);
  CHECK(clocks->round_trip > 0);
  CHECK(std::abs(clocks->offset) <= clocks->round_trip / 2);
}

TEST_CASE("a rank that meets no other rank says so") {
  const Lookup nothing = [](const char*) { return std::nullopt; };
  CHECK_FALSE(Meeting::hold(0, nothing, std::chrono::milliseconds(50)));
  const Lookup alone = [](const char* name) -> std::optional<std::string> {
    return std::string(name) == "MASTER_PORT" ? "0" : "127.0.0.1";
  };
  const auto met = Meeting::hold(0, alone, std::chrono::milliseconds(50));
  REQUIRE_FALSE(met);
  CHECK(met.error().code == Errc::timed_out);
}

}  // namespace dts::probe
