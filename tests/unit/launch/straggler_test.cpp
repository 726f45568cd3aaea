// SPDX-License-Identifier: Apache-2.0
// Who is slower than the others: the rule, rank by rank.
#include "core/launch/attempt/watch/straggler.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace dts::launch;

namespace {

using Ranks = std::vector<unsigned>;
using Paces = std::map<unsigned, Pace>;

// Rank r's work is the r-th of these, in milliseconds.
Paces working(const std::vector<std::uint64_t>& works) {
  Paces paces;
  for (const std::uint64_t work : works) {
    Pace pace;
    pace.work = work;
    paces.emplace(static_cast<unsigned>(paces.size()), pace);
  }
  return paces;
}

Ranks ranks_of(const std::vector<Straggler>& found) {
  Ranks ranks;
  for (const Straggler& one : found) ranks.push_back(one.rank);
  return ranks;
}

Ranks named(const Paces& paces) {
  Ranks recovered;
  return ranks_of(StragglerWatch().judge(paces, recovered));
}

}  // namespace

TEST_CASE("which rank is named, by the work of each rank") {
  struct Row {
    const char* what;
    std::vector<std::uint64_t> works;
    Ranks named;
  };

  for (const Row& row : {
           Row{"nobody tells", {0, 0, 0, 0}, {}},
           Row{"one tells: there are no others", {900, 0, 0}, {}},
           Row{"all alike", {200, 205, 195, 210}, {}},
           Row{"all alike and slow", {20'000, 20'500, 19'500, 21'000}, {}},
           Row{"one three times as slow", {200, 200, 600, 200}, {2}},
           Row{"one of two", {200, 600}, {1}},
           Row{"the fast one of two is none", {600, 200}, {0}},
           Row{"just 1.5 times is not more", {200, 200, 300}, {}},
           Row{"more than 1.5 times", {200, 200, 301}, {2}},
           Row{"ten times, but by 45 ms: any busy node does that", {5, 5, 5, 50}, {}},
           Row{"ten times, and by 55 ms", {5, 5, 5, 60}, {3}},
           Row{"two of five", {600, 200, 200, 700, 200}, {0, 3}},
           Row{"half of them", {600, 600, 200, 200}, {0, 1}},
           Row{"more than half: that is how the program is", {600, 600, 600, 200}, {}},
           Row{"one is fast", {600, 600, 200}, {}},
           Row{"those that tell nothing do not count", {0, 200, 0, 600, 210, 0}, {3}},
       }) {
    CAPTURE(row.what);
    CHECK(named(working(row.works)) == row.named);
  }
}

TEST_CASE("the message says by how much, against the median of the others") {
  Ranks recovered;
  const auto found = StragglerWatch().judge(working({200, 220, 240, 660}), recovered);
  REQUIRE(found.size() == 1);
  CHECK(found[0].own == 660);
  CHECK(found[0].others == 220);
  CHECK(found[0].factor() == doctest::Approx(3));
}

TEST_CASE("the phase in which it is slow: input, if that explains more than half") {
  struct Row {
    std::uint64_t usual_input, own_input;
    SlowPhase phase;
  };

  for (const Row& row : {Row{0, 0, SlowPhase::compute},
                         Row{0, 400, SlowPhase::input},
                         Row{0, 190, SlowPhase::compute},
                         Row{150, 160, SlowPhase::compute},  // all wait for it
                         Row{150, 500, SlowPhase::input}}) {
    CAPTURE(row.own_input);
    Paces paces = working({200, 200, 200, 600});
    for (auto& [rank, pace] : paces) pace.input = rank == 3 ? row.own_input : row.usual_input;
    Ranks recovered;
    const auto found = StragglerWatch().judge(paces, recovered);
    REQUIRE(found.size() == 1);
    CHECK(std::string(to_string(found[0].phase)) == to_string(row.phase));
  }
}

TEST_CASE("a slow save is reported after three saves, among ranks that report one") {
  Paces paces = working({200, 200, 200, 200});
  for (auto& [rank, pace] : paces) {
    pace.save = rank == 1 ? 9000 : 3000;
    pace.saves = 2;
  }
  CHECK(named(paces).empty());
  for (auto& [rank, pace] : paces) pace.saves = 3;
  Ranks recovered;
  const auto found = StragglerWatch().judge(paces, recovered);
  REQUIRE(found.size() == 1);
  CHECK(found[0].rank == 1);
  CHECK(found[0].phase == SlowPhase::save);
  // If one rank saves for all, it is no straggler.
  for (auto& [rank, pace] : paces)
    if (rank != 1) pace.save = 0;
  CHECK(named(paces).empty());
}

TEST_CASE("a rank is named when it becomes slow, and has recovered only well below that") {
  StragglerWatch watch;

  struct Row {
    std::uint64_t work;
    Ranks named, recovered;
  };

  for (const Row& row : {Row{600, {2}, {}},
                         Row{600, {}, {}},
                         Row{280, {}, {}},  // 1.4 times: neither
                         Row{310, {}, {}},
                         Row{240, {}, {2}},
                         Row{290, {}, {}},
                         Row{310, {2}, {}}}) {
    CAPTURE(row.work);
    Ranks recovered;
    CHECK(ranks_of(watch.judge(working({200, 200, row.work, 200}), recovered)) == row.named);
    CHECK(recovered == row.recovered);
  }
}
