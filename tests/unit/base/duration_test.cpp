// SPDX-License-Identifier: Apache-2.0
#include "core/base/text/duration.hpp"

#include "core/base/text/text.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace dts;

TEST_CASE("lengths of time are read with and without a unit") {
  struct {
    const char* text;
    double seconds;
  } const cases[] = {{"0", 0},
                     {"20", 20},
                     {"20s", 20},
                     {"1.5m", 90},
                     {"1.5h", 5400},
                     {"2d", 172800},
                     {"1e3", 1000},
                     {"0.25", 0.25}};

  for (const auto& c : cases) {
    CAPTURE(c.text);
    REQUIRE(parse_duration(c.text));
    CHECK(parse_duration(c.text)->count() == c.seconds);
  }
}

TEST_CASE("an invalid duration is refused by its option, with an example") {
  for (const char* text : {"",
                           "s",
                           "-1",
                           "-0.1h",
                           "+1",
                           "nan",
                           "inf",
                           "1e308d",
                           "1e999",
                           "1x",
                           "1 s",
                           " 1",
                           "1:30",
                           "0x10",
                           "1h30m",
                           "ten"}) {
    CAPTURE(text);
    const auto parsed = parse_duration(text);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().message.find("`" + std::string(text) + "`") == 0);
    CHECK(parsed.error().hint.find("1.5h") != std::string::npos);
  }
}

TEST_CASE("they are printed in the unit that suits") {
  struct {
    double seconds;
    const char* text;
  } const cases[] = {{0, "0 s"},
                     {0.5, "0.5 s"},
                     {20, "20 s"},
                     {90, "1.5 min"},
                     {3600, "1 h"},
                     {11124, "3.09 h"},
                     {2592000, "30 d"},
                     {316224000, "3660 d"},
                     {std::numeric_limits<double>::infinity(), "never"}};

  for (const auto& c : cases) CHECK(format_duration(Seconds(c.seconds)) == c.text);
}

TEST_CASE("numbers are whole, finite and without blanks") {
  CHECK(parse_real("-1.5e3") == -1500.0);
  for (const char* text : {"", "nan", "inf", "1e999", "1,5", "1.5x", " 1", "1 ", "+1", "0x1"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_real(text));
  }
}
