// SPDX-License-Identifier: Apache-2.0
// Checks values and gradients of float code against a function in double precision.
#pragma once

#include "tests/unit/train/reference.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace reference {

constexpr std::size_t k_probes = 24;  // elements of an array whose derivatives are checked
constexpr double k_smooth = 1e-3;     // a step for functions without kinks

inline void check_values(const float* ours, const Values& expected, double tolerance) {
  double worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(ours[i]) - expected[i]));
  CHECK(worst < tolerance);
}

// `ours` is the gradient of f at x.
inline void check_gradient(const float* ours,
                           const std::function<double(const Values&)>& f,
                           const Values& x,
                           double tolerance,
                           double step = k_kinked) {
  double worst = 0;
  double largest = 0;
  const std::size_t probes = std::min(k_probes, x.size());
  for (std::size_t probe = 0; probe < probes; ++probe) {
    const std::size_t i = probe * (x.size() - 1) / std::max<std::size_t>(1, probes - 1);
    const double expected = derivative(f, x, i, step);
    worst = std::max(worst, std::abs(static_cast<double>(ours[i]) - expected));
    largest = std::max(largest, std::abs(expected));
  }
  CAPTURE(largest);
  CHECK(largest > 1e-6);  // otherwise nothing was checked
  CHECK(worst < tolerance * largest);
}

}  // namespace reference
