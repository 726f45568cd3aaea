// SPDX-License-Identifier: Apache-2.0
// The pure parts of `dttrain bench`: schedule of pairs, bus bandwidth, clock offsets, options,
// JSON.
#include "core/train/bench/clock_offset.hpp"
#include "core/train/bench/core_time.hpp"
#include "core/train/bench/cpus.hpp"
#include "core/train/bench/facts.hpp"
#include "core/train/bench/options.hpp"
#include "core/train/bench/timing.hpp"
#include "core/train/bench/tournament.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstring>
#include <set>

namespace dts::train::bench {
namespace {

const char* empty_environment(const char* /*name*/) {
  return nullptr;
}

RankFacts some_facts(int rank, const std::string& node) {
  RankFacts facts{node, rank, "a processor", 4};
  facts.add("cores", 4, "");
  facts.measures.push_back({"memory", 2e10, "B/s", 1});
  facts.measures.push_back({"write", 4e8, "B/s", {}, "run", "/runs/x"});
  facts.measures.push_back({"hbm", 3e12, "B/s", {}, "", "0000:3b:00.0", {}, 5, "H100"});
  facts.steps = Steps{100, "1e4d000000000000", {7, 9}};
  facts.measures.push_back({"peer", 4e11, "B/s", {}, "", "0000:3b:00.0", {}, 5, "H100", 2});
  facts.gpu_steps.push_back({5, "H100", "0000:3b:00.0", {1000, "1e4d000000000001", {699}}});
  facts.notes = {"no bf16 instructions here"};
  return facts;
}

}  // namespace

TEST_CASE("a tournament has each pair once, and nobody twice in a round") {
  CHECK(tournament_rounds(0) == 0);
  CHECK(tournament_rounds(1) == 0);
  for (int players = 2; players <= 33; ++players) {
    const int rounds = tournament_rounds(players);
    CHECK(rounds == (players % 2 == 0 ? players - 1 : players));
    std::set<std::pair<int, int>> met;
    for (int round = 0; round < rounds; ++round) {
      int free = 0;
      for (int player = 0; player < players; ++player) {
        const int other = opponent(players, round, player);
        if (other < 0) {
          ++free;
          continue;
        }
        REQUIRE(other < players);
        REQUIRE(other != player);
        CHECK(opponent(players, round, other) == player);
        if (player < other) CHECK(met.insert({player, other}).second);
      }
      CHECK(free == players % 2);
    }
    CHECK(static_cast<int>(met.size()) == players * (players - 1) / 2);
  }
}

TEST_CASE("bus bandwidth is that of nccl-tests") {
  CHECK(bus_factor("all_reduce", 2) == doctest::Approx(1.0));
  CHECK(bus_factor("all_reduce", 8) == doctest::Approx(1.75));
  CHECK(bus_factor("all_gather", 4) == doctest::Approx(0.75));
  CHECK(bus_factor("broadcast", 16) == 1.0);
}

TEST_CASE("a clock's offset comes from the exchange with the least round trip") {
  CHECK_FALSE(clock_offset({}));
  constexpr std::int64_t k_ms = 1000000;
  const std::int64_t now = 1700000000LL * 1000000000;
  // This clock is 2 s ahead. The slow exchanges, delayed in one direction only, suggest otherwise.
  const auto exchange = [&](std::int64_t there, std::int64_t back) {
    const std::int64_t asked = now + 2000 * k_ms;
    return ClockExchange{asked, now + there, asked + there + back};
  };
  const auto offset = clock_offset(
      {exchange(900 * k_ms, k_ms), exchange(k_ms / 10, k_ms / 10), exchange(k_ms, 90 * k_ms)});
  REQUIRE(offset);
  CHECK(*offset == doctest::Approx(2.0).epsilon(1e-6));
  CHECK(*clock_offset({{now, now + 3 * k_ms, now + 2 * k_ms}}) == doctest::Approx(-0.002));
}

TEST_CASE("the fast end of durations ignores what disturbed the others") {
  CHECK(lower_decile({}) == 0);
  CHECK(lower_decile({5}) == 5);
  std::vector<double> values(100, 9.0);
  for (std::size_t i = 20; i < 40; ++i) values[i] = 1.0;
  CHECK(lower_decile(values) == 1.0);
  int calls = 0;
  CHECK(fast_seconds(0.001, 0, [&] { ++calls; }).seconds < 0.001);
  CHECK(calls > 20);
  const auto spin = [] {
    const auto end = Clock::now() + std::chrono::microseconds(100);
    while (Clock::now() < end) {
    }
  };
  CHECK(fast_seconds(0.01, 0.5, spin).seconds >= 0.0002);  // half of it stolen, on purpose
  CHECK(per_second(6, 2) == 3);
  CHECK(per_second(6, 0) == 0);  // unknown
}

TEST_CASE("a thread knows how long it ran, and that it had to wait for another one") {
  const CoreTime before = core_time();
  const long preempted = preemptions();
  const auto until = Clock::now() + std::chrono::milliseconds(50);
  while (Clock::now() < until) {
  }
  const CoreTime after = core_time();
  CHECK(after.running > before.running);
  CHECK(after.running - before.running + after.waiting - before.waiting < 10);
  // Two threads on one core: one waits while the other runs.
  const double others = on_each({own_cores().front(), own_cores().front()}, [](std::size_t) {
    const auto end = Clock::now() + std::chrono::milliseconds(100);
    while (Clock::now() < end) {
    }
    return core_time();
  });
  CHECK(others > 0.3);
  CHECK(others <= 1);
  CHECK(preemptions() >= preempted);
  const Stolen stolen(own_cores());
  CHECK(stolen.share() >= 0);
  CHECK(stolen.share() <= 1);
}

TEST_CASE("a rank's facts survive the way to rank 0") {
  RankFacts facts = some_facts(3, "n\xff 1");
  facts.pairs.push_back({3, 5, 1.5e-6, 1e10, true});
  const auto read = decode_rank(encode(facts));
  REQUIRE(read);
  CHECK(read->rank == 3);
  CHECK(read->measures.size() == 5);
  CHECK(read->measures[1].numa == 1);
  CHECK(read->measures[2].what == "run");
  CHECK(read->measures[3].gpu == 5);
  CHECK(read->measures[3].model == "H100");
  CHECK(read->measures[4].peer == 2);
  REQUIRE(read->gpu_steps.size() == 1);
  CHECK(read->gpu_steps[0].gpu == 5);
  CHECK(read->gpu_steps[0].steps.odd == std::vector<int>{699});
  CHECK(read->steps->odd == std::vector<int>{7, 9});
  CHECK(read->pairs.at(0).latency == 1.5e-6);
  CHECK(read->pairs.at(0).disturbed);
  CHECK(encode(*read) == encode(*decode_rank(encode(*read))));
  for (const char* const bad : {"", "{", "[]", R"({"node":1})", R"({"node":"a","rank":"b"})"})
    CHECK_FALSE(decode_rank(bad));
}

TEST_CASE("check.json has nodes, pairs and collectives as its readers expect them") {
  Facts facts{"2026-11-23T15:40:00Z", 41.2, true};
  facts.ranks = {some_facts(0, "n1"), some_facts(1, "n2"), some_facts(2, "n2"), RankFacts{"", 3}};
  facts.ranks[0].pairs.push_back({0, 2, 1e-6, 1e10});
  facts.ranks[1].pairs.push_back({1, 3, 2e-6, 2e10, true});
  facts.collectives = {{"all_reduce", 1000, 1e-3}};
  facts.notes = {"rank 3 has not answered"};
  CHECK_FALSE(nlohmann::json::parse(encode(facts, "9.9")).contains("gpus_asked"));
  facts.gpus_asked = 8;
  const auto json = nlohmann::json::parse(encode(facts, "9.9"));
  CHECK(json["schema"] == 1);
  CHECK(json["trainer"] == "9.9");
  CHECK(json["began"] == "2026-11-23T15:40:00Z");
  CHECK(json["quick"] == true);
  CHECK(json["nodes"].size() == 4);
  CHECK(json["nodes"][0]["node"] == "n1");
  CHECK(json["nodes"][2]["node"] == "n2:2");  // two ranks share it
  CHECK(json["nodes"][3]["node"] == "rank 3");
  CHECK(json["nodes"][0]["measures"][1]["numa"] == 1);
  CHECK(json["nodes"][0]["measures"][2]["path"] == "/runs/x");
  CHECK(json["nodes"][0]["measures"][3]["gpu"] == 5);
  CHECK(json["gpus_asked"] == 8);
  CHECK(json["nodes"][0]["measures"][0]["unit"] == "");
  CHECK(json["nodes"][0]["steps"]["odd_repeats"] == std::vector<int>{7, 9});
  CHECK_FALSE(json["nodes"][3].contains("steps"));
  CHECK(json["pairs"][0]["a"] == "n1");
  CHECK(json["pairs"][0]["b"] == "n2:2");
  CHECK(json["pairs"][1]["b"] == "rank 3");
  CHECK_FALSE(json["pairs"][0].contains("disturbed"));
  CHECK(json["pairs"][1]["disturbed"] == true);
  CHECK(json["collectives"][0]["algbw"].get<double>() == doctest::Approx(1e6));
  CHECK(json["collectives"][0]["busbw"].get<double>() == doctest::Approx(1.5e6));
  CHECK(json["notes"][0] == "rank 3 has not answered");
}

TEST_CASE("options of bench and its environment") {
  const auto environment = [](const char* name) -> const char* {
    if (std::strcmp(name, "DTSUBMIT_RUN_DIR") == 0) return "/runs/a";
    if (std::strcmp(name, "WORLD_SIZE") == 0) return "4";
    return std::strcmp(name, "TMPDIR") == 0 ? "/scratch" : nullptr;
  };
  const auto job =
      parse_bench_options({"--quick", "--steps=7", "--phase", "disk,steps"}, environment);
  REQUIRE(job);
  CHECK(job->quick);
  CHECK(job->repeats() == 7);
  CHECK(job->output == "/runs/a/check.json");
  CHECK(job->scratch == "/scratch");
  CHECK(job->planned_ranks == 4);
  CHECK(job->wants("disk"));
  CHECK_FALSE(job->wants("pairs"));
  const auto here = parse_bench_options({"--output", "-"}, empty_environment);
  REQUIRE(here);
  CHECK(here->output.empty());
  CHECK(here->repeats() == 100);
  CHECK(here->wants("pairs"));
  CHECK_FALSE(here->planned_ranks);
  const std::vector<std::vector<std::string>> wrong{{"--speed", "1"},
                                                    {"--steps", "0"},
                                                    {"--steps"},
                                                    {"--pairs", "-1"},
                                                    {"--phase", "dance"},
                                                    {"--gpus", "-1"},
                                                    {"--inject", "slow:3@1"},
                                                    {"--inject", "slow@x"},
                                                    {"--inject", "gravity@0"}};
  for (const auto& words : wrong) {
    const auto options = parse_bench_options(words, empty_environment);
    REQUIRE_FALSE(options);
    CHECK(options.error().code == Errc::usage);
  }
  CHECK(bench_usage().find("--inject WHAT") != std::string::npos);
}

TEST_CASE("an injection is written as it is read, and concerns one rank") {
  for (const char* const word : {"slow@2", "weight:17:3@0", "momentum:4:9@11"}) {
    const auto options = parse_bench_options({"--inject", word}, empty_environment);
    REQUIRE(options);
    CHECK(to_string(options->injections.at(0)) == word);
  }
  const auto options =
      parse_bench_options({"--inject", "clock@1", "--inject", "gradient"}, empty_environment);
  REQUIRE(options);
  CHECK(options->injection("clock", 0) == nullptr);
  CHECK(options->injection("clock", 1) != nullptr);
  REQUIRE(options->injection("gradient", 0) != nullptr);
  CHECK(options->injection("gradient", 0)->repeat == 3);
}

}  // namespace dts::train::bench
