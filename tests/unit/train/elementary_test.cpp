// SPDX-License-Identifier: Apache-2.0
// Our exp and cos against those of double precision, and their bits, which no processor may change.
#include "core/train/device/elementary.hpp"

#include "core/base/hash.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

using namespace dts::train;

TEST_CASE("exp is within 0.51 units in the last place") {
  double worst = 0;
  for (float x = -87.0F; x < 88.0F; x += 0.00371F) {
    const double exact = std::exp(static_cast<double>(x));
    const float near = static_cast<float>(exact);
    const double unit =
        static_cast<double>(std::nextafter(near, INFINITY)) - static_cast<double>(near);
    worst = std::max(worst, std::abs(static_cast<double>(portable_exp(x)) - exact) / unit);
  }
  CHECK(worst < 0.51);
  CHECK(portable_exp(0.0F) == 1.0F);
}

TEST_CASE("exp at its ends") {
  CHECK(portable_exp(-200.0F) == 0.0F);
  CHECK(portable_exp(-INFINITY) == 0.0F);
  CHECK(portable_exp(-103.0F) > 0.0F);
  CHECK(portable_exp(88.72F) < INFINITY);
  CHECK(portable_exp(88.73F) == INFINITY);
  CHECK(portable_exp(1e30F) == INFINITY);
  CHECK(std::isnan(portable_exp(std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("the cosine of pi x") {
  for (int i = 0; i <= 10000; ++i)
    CHECK(std::abs(cosine_of_pi(i / 1e4) - std::cos(std::numbers::pi * i / 1e4)) < 1e-15);
  CHECK(cosine_of_pi(0) == 1.0);
  CHECK(cosine_of_pi(0.5) == 0.0);
  CHECK(cosine_of_pi(1) == -1.0);
}

TEST_CASE("their bits are these on every processor") {
  std::vector<float> powers;
  std::vector<double> cosines;
  for (int i = 0; i < 4096; ++i) {
    powers.push_back(portable_exp(static_cast<float>(i) * -0.0253F));
    cosines.push_back(cosine_of_pi(i / 4096.0));
  }
  CHECK(dts::to_hex(dts::hash64(powers.data(), powers.size() * sizeof(float))) ==
        "52c65889e5b4a9f9");
  CHECK(dts::to_hex(dts::hash64(cosines.data(), cosines.size() * sizeof(double))) ==
        "bec69cd3654134e2");
}
