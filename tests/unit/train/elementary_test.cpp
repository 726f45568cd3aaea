// SPDX-License-Identifier: Apache-2.0
// Our exp and cos against double precision, and their bits, which must not depend on the processor.
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

TEST_CASE("exp, log, sine and cosine in double precision") {
  double exp_error = 0;
  double log_error = 0;
  double circle_error = 0;
  for (int i = -20000; i <= 20000; ++i) {
    const double x = i * 0.0349;
    exp_error = std::max(exp_error, std::abs(precise_exp(x) / std::exp(x) - 1));
    const double y = std::exp(x);
    log_error =
        std::max(log_error, std::abs(portable_log(y) - std::log(y)) / std::max(1.0, std::abs(x)));
    const double angle = std::abs(i) * (i % 2 == 0 ? 1.37 : 9876.5);
    const SineCosine both = portable_sincos(angle);
    circle_error = std::max(circle_error, std::abs(both.sine - std::sin(angle)));
    circle_error = std::max(circle_error, std::abs(both.cosine - std::cos(angle)));
  }
  CHECK(exp_error < 1e-15);
  CHECK(log_error < 1e-15);
  CHECK(circle_error < 1e-15);
  CHECK(precise_exp(0) == 1.0);
  CHECK(portable_log(1) == 0.0);
  CHECK(portable_sincos(0).cosine == 1.0);
}

TEST_CASE("their bits are these on every processor") {
  std::vector<float> powers;
  std::vector<double> cosines;
  std::vector<double> others;
  for (int i = 0; i < 4096; ++i) {
    powers.push_back(portable_exp(static_cast<float>(i) * -0.0253F));
    cosines.push_back(cosine_of_pi(i / 4096.0));
    others.push_back(precise_exp(i * 0.11 - 200));
    others.push_back(portable_log(1 + i * 0.37));
    others.push_back(portable_sincos(i * 1.7).sine);
    others.push_back(portable_sincos(i * 1.7).cosine);
  }
  CHECK(dts::to_hex(dts::hash64(powers.data(), powers.size() * sizeof(float))) ==
        "52c65889e5b4a9f9");
  CHECK(dts::to_hex(dts::hash64(cosines.data(), cosines.size() * sizeof(double))) ==
        "bec69cd3654134e2");
  CHECK(dts::to_hex(dts::hash64(others.data(), others.size() * sizeof(double))) ==
        "70618c4d72ef46d6");
}
