// SPDX-License-Identifier: Apache-2.0
// Random numbers: known values, and distributions far from chance.
#include "core/base/random.hpp"

#include <doctest/doctest.h>

#include <cmath>

using dts::Random;

TEST_CASE("mix() is SplitMix64's step: the first numbers of seed 1234567") {
  constexpr std::uint64_t k_golden = 0x9E3779B97F4A7C15ULL;
  CHECK(dts::mix(1234567) == 6457827717110365317ULL);
  CHECK(dts::mix(1234567 + k_golden) == 3203168211198807973ULL);
  CHECK(dts::mix(1234567 + 2 * k_golden) == 9817491932198370423ULL);
}

TEST_CASE("the numbers of a seed and stream are the same for ever") {
  Random random(1, 0);
  CHECK(random.uniform() == 0x1.631405e8db1b0p-1);
  CHECK(random.exponential() == 0x1.5be840f981336p+0);
  CHECK(random.exponential() == 0x1.54e98cc1ababap+0);
  CHECK(random.exponential() == 0x1.81f4e7de0ffeap-2);
}

TEST_CASE("seeds and streams are different sequences") {
  const double one = Random(1, 0).uniform();
  CHECK(Random(1, 1).uniform() != one);
  CHECK(Random(2, 0).uniform() != one);
  CHECK(Random(1, 0).uniform() == one);
}

// The quantiles of 10^6 draws lie within 5 standard deviations of where they belong.
TEST_CASE("exponential() is exponential with mean 1") {
  constexpr int k_draws = 1'000'000;
  Random random(7, 3);
  double sum = 0, squares = 0;
  int above[4] = {};
  for (int i = 0; i < k_draws; ++i) {
    const double x = random.exponential();
    REQUIRE(x >= 0);
    sum += x;
    squares += x * x;
    for (int k = 0; k < 4; ++k) above[k] += x > 0.5 * (1 << k);  // 0.5, 1, 2, 4
  }
  CHECK(sum / k_draws == doctest::Approx(1).epsilon(0.005));
  CHECK(squares / k_draws == doctest::Approx(2).epsilon(0.0225));
  for (int k = 0; k < 4; ++k) {
    const double p = std::exp(-0.5 * (1 << k));
    CHECK(std::abs(above[k] - k_draws * p) < 5 * std::sqrt(k_draws * p * (1 - p)));
  }
}

TEST_CASE("uniform() fills [0, 1) evenly") {
  constexpr int k_draws = 1'000'000;
  Random random(7, 4);
  int tenth[10] = {};
  for (int i = 0; i < k_draws; ++i) {
    const double x = random.uniform();
    REQUIRE(x >= 0);
    REQUIRE(x < 1);
    ++tenth[static_cast<int>(x * 10)];
  }
  for (const int n : tenth) CHECK(std::abs(n - 100'000) < 5 * 300);
}
