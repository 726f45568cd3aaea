// SPDX-License-Identifier: Apache-2.0
// How early a job is asked to save before its time is up.
#include "core/launch/attempt/watch/stop_margin.hpp"

#include <doctest/doctest.h>

using namespace dts;
using dts::launch::stop_margin;

TEST_CASE("twice the save, the longest pause and ten seconds; at most half of the time") {
  struct Row {
    double save, pause, time, margin;  // seconds
  };

  for (const Row& row : {Row{0.02, 0.5, 86400, 10.54},
                         Row{20, 1, 86400, 51},
                         Row{20, 300, 86400, 350},  // an evaluation of five minutes
                         Row{600, 900, 86400, 2110},
                         Row{20, 1, 60, 30},  // a job of a minute
                         Row{3600, 1, 3600, 1800},
                         Row{1, 0, 0, 0}}) {
    CAPTURE(row.save);
    CAPTURE(row.time);
    CHECK(stop_margin(Seconds(row.save), Seconds(row.pause), Seconds(row.time)).count() ==
          doctest::Approx(row.margin));
  }
}
