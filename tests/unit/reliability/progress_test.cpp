// SPDX-License-Identifier: Apache-2.0
// What a run keeps and loses, in cycles of 10 s of computing and 2 s of saving.
#include "core/reliability/progress.hpp"

#include <doctest/doctest.h>

#include <cstdint>

using namespace dts::reliability;
using std::chrono::seconds;

namespace {

struct Expected {
  int computing, slow, saving, lost;
  std::uint64_t saves;
};

void check(const Progress& progress, const Expected& expected) {
  CHECK(progress.work().computing == seconds(expected.computing));
  CHECK(progress.work().slow == seconds(expected.slow));
  CHECK(progress.work().saving == seconds(expected.saving));
  CHECK(progress.lost() == seconds(expected.lost));
  CHECK(progress.saves() == expected.saves);
}

Progress cycle() {
  return {seconds(10), seconds(2), 2.0};
}

}  // namespace

TEST_CASE("what is lost is what came after the newest save") {
  struct {
    int run;
    Expected kept, lost;
  } const cases[] = {
      {0, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}},
      {7, {7, 0, 0, 0, 0}, {0, 0, 0, 7, 0}},
      {10, {10, 0, 0, 0, 0}, {0, 0, 0, 10, 0}},
      {11, {10, 0, 1, 0, 0}, {0, 0, 0, 11, 0}},  // a save that did not end counts as lost
      {12, {10, 0, 2, 0, 1}, {10, 0, 2, 0, 1}},
      {13, {11, 0, 2, 0, 1}, {10, 0, 2, 1, 1}},
      {35, {30, 0, 5, 0, 2}, {20, 0, 4, 11, 2}},
      {36, {30, 0, 6, 0, 3}, {30, 0, 6, 0, 3}},
      {1201, {1001, 0, 200, 0, 100}, {1000, 0, 200, 1, 100}},
  };

  for (const auto& c : cases) {
    CAPTURE(c.run);
    Progress progress = cycle();
    progress.run(seconds(c.run), Progress::Pace::full);
    check(progress, c.kept);
    progress.lose();
    check(progress, c.lost);
  }
}

TEST_CASE("a stretch is the same whole or in pieces") {
  for (int piece = 1; piece <= 13; ++piece) {
    Progress whole = cycle(), pieces = cycle();
    whole.run(seconds(13 * 13 * piece), Progress::Pace::full);
    for (int i = 0; i < 13 * 13; ++i) pieces.run(seconds(piece), Progress::Pace::full);
    CHECK(whole.work().computing == pieces.work().computing);
    CHECK(whole.work().saving == pieces.work().saving);
    CHECK(whole.saves() == pieces.saves());
  }
}

TEST_CASE("beside a slow node half of the computing is not work; saves are as fast") {
  Progress progress = cycle();
  progress.run(seconds(24), Progress::Pace::slow);
  check(progress, {10, 10, 4, 0, 2});
  progress.run(seconds(4), Progress::Pace::full);
  check(progress, {14, 10, 4, 0, 2});
  progress.run(seconds(4), Progress::Pace::slow);
  check(progress, {16, 12, 4, 0, 2});
  progress.lose();
  check(progress, {10, 10, 4, 8, 2});
}

TEST_CASE("after a loss, or a save out of turn, a whole interval begins") {
  Progress progress = cycle();
  progress.run(seconds(9), Progress::Pace::full);
  progress.lose();
  progress.run(seconds(9), Progress::Pace::full);
  check(progress, {9, 0, 0, 9, 0});
  progress.keep();
  progress.run(seconds(11), Progress::Pace::full);
  progress.lose();
  check(progress, {9, 0, 0, 20, 1});
}

TEST_CASE("a corruption costs all since the newest good checkpoint") {
  Progress progress = cycle();
  progress.run(seconds(12 + 5), Progress::Pace::full);
  progress.corrupt();
  CHECK(progress.corrupted());
  progress.run(seconds(24), Progress::Pace::full);
  check(progress, {35, 0, 6, 0, 3});
  progress.roll_back();
  check(progress, {10, 0, 6, 25, 3});
  CHECK_FALSE(progress.corrupted());
}

TEST_CASE("a failure takes a corruption along that no checkpoint has seen") {
  Progress progress = cycle();
  progress.run(seconds(5), Progress::Pace::full);
  progress.corrupt();
  progress.lose();
  CHECK_FALSE(progress.corrupted());
  progress.run(seconds(5), Progress::Pace::full);
  progress.corrupt();
  progress.run(seconds(10), Progress::Pace::full);  // saved wrong
  progress.lose();
  CHECK(progress.corrupted());
  progress.roll_back();
  check(progress, {0, 0, 2, 18, 1});
}
