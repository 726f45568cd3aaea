// SPDX-License-Identifier: Apache-2.0
// When dttrain saves during training.
#include "core/train/checkpoint/save_rule.hpp"

#include <doctest/doctest.h>

using namespace dts::train;
using namespace std::chrono_literals;

TEST_CASE("every so many steps, as advised, or every 50 steps until something is advised") {
  struct Row {
    std::optional<std::uint64_t> every;
    std::uint64_t steps;
    std::chrono::milliseconds since, advised;
    bool due;
  };

  for (const Row& row : {Row{10, 10, 0ms, 0ms, true},
                         Row{10, 11, 1h, 0ms, false},
                         Row{10, 20, 0ms, 1h, true},  // an explicit interval overrides advice
                         Row{10, 25, 2h, 1h, false},
                         Row{0, 50, 1h, 1s, false},  // never
                         Row{{}, 49, 1h, 0ms, false},
                         Row{{}, 50, 0ms, 0ms, true},
                         Row{{}, 50, 59s, 60s, false},
                         Row{{}, 51, 60s, 60s, true}}) {
    CAPTURE(row.steps);
    CAPTURE(row.since.count());
    CAPTURE(row.advised.count());
    CHECK(SaveRule{row.every}.due(row.steps, row.since, row.advised) == row.due);
  }
}
