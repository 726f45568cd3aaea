// SPDX-License-Identifier: Apache-2.0
// How often a run is advised to save: what is known at its start, and what it learns.
#include "core/launch/attempt/watch/checkpoint_advice.hpp"

#include "core/reliability/interval.hpp"

#include <doctest/doctest.h>

using namespace dts;
using namespace dts::launch;

namespace {

constexpr double k_hour = 3600;

double every_of(unsigned nodes, const run::FailureRecord& record, double save, double running) {
  CheckpointAdvice advice(nodes, record);
  const auto given = advice.update(Seconds(save), Seconds(running));
  REQUIRE(given);
  CHECK(given->every == advice.every());
  return given->every.count();
}

}  // namespace

TEST_CASE("no advice before a save was measured") {
  CheckpointAdvice advice(8, {3, Seconds(1000), Seconds(0)});
  CHECK_FALSE(advice.update(Seconds(0), Seconds(1e6)));
  CHECK(advice.every().count() == 0);
}

TEST_CASE("advice by save time, nodes and failure record") {
  struct Row {
    unsigned nodes, failures;
    double ran, save, running;  // hours before, seconds, hours in this attempt
    double every;               // seconds
  };

  // sqrt(2 save mttf) - save, to a few per cent
  for (const Row& row : {Row{1, 0, 0, 0.05, 0, 92.7},
                         Row{1, 0, 0, 20, 0, 1840},
                         Row{2048, 0, 0, 20, 0, 475},
                         Row{2048, 0, 0, 20, 10, 1300},      // ten hours without a failure
                         Row{2048, 9, 8, 20, 1, 379},        // nine in nine hours
                         Row{1, 1000, 1, 0.05, 0, 2.97},     // a run that is drilled
                         Row{1, 100000, 1, 0.001, 0, 1}}) {  // never below a second
    CAPTURE(row.nodes);
    CAPTURE(row.save);
    CAPTURE(row.failures);
    const run::FailureRecord record{row.failures, Seconds(row.ran * k_hour), Seconds(0)};
    CHECK(every_of(row.nodes, record, row.save, row.running * k_hour) ==
          doctest::Approx(row.every).epsilon(0.02));
  }
}

TEST_CASE("the advice is Daly's interval for the mean time to failure of the run") {
  const run::FailureRecord record{2, Seconds(5 * k_hour), Seconds(0)};
  const Seconds mttf = reliability::learnt_time_to_failure(
      reliability::expected_time_to_failure(16), 2, Seconds(6 * k_hour));
  CHECK(every_of(16, record, 30, k_hour) ==
        doctest::Approx(reliability::daly_interval(Seconds(30), mttf).count()));
}

TEST_CASE("new advice is given if it differs by over a tenth, a line in the log if by half") {
  CheckpointAdvice advice(1, {});
  const auto first = advice.update(Seconds(1), Seconds(0));
  REQUIRE(first);
  CHECK(first->notable);

  struct Row {
    double save;  // seconds: the interval grows with its square root
    bool given, notable;
  };

  for (const Row& row : {Row{1.0, false, false},
                         Row{1.2, false, false},  // 9.5 % more
                         Row{1.3, true, false},
                         Row{1.3, false, false},
                         Row{2.0, true, false},
                         Row{2.4, false, false},  // 9.5 % more than for 2.0
                         Row{2.5, true, true},    // 1.58 times the first
                         Row{1.0, true, true}}) {
    CAPTURE(row.save);
    const auto next = advice.update(Seconds(row.save), Seconds(0));
    CHECK(next.has_value() == row.given);
    if (next) CHECK(next->notable == row.notable);
  }
}

TEST_CASE("a fluctuating save time does not fill the ledger") {
  CheckpointAdvice advice(1, {});
  unsigned given = 0, notable = 0;
  for (int i = 0; i < 1000; ++i)
    if (const auto next = advice.update(Seconds(i % 2 == 0 ? 1 : 100), Seconds(0))) {
      ++given;
      notable += next->notable ? 1 : 0;
    }
  CHECK(given == 1000);
  CHECK(notable == CheckpointAdvice::k_most_notable);
}

TEST_CASE("the sentence says what the advice is based on") {
  CheckpointAdvice advice(1, {1, Seconds(600), Seconds(0)});
  const auto given = advice.update(Seconds(2), Seconds(120));
  REQUIRE(given);
  CHECK(in_words(*given) ==
        "save every 6.91 min: a save takes 2 s, and a failure is expected every 12 h (1 in 12 min "
        "so far)");
}
