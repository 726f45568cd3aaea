// SPDX-License-Identifier: Apache-2.0
// Running statistics, digest and initial weights.
#include "core/train/checkpoint/state.hpp"

#include "tests/unit/train/cnn2.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace dts::train;

TEST_CASE("running statistics move a tenth of the way to the mean over shards") {
  const Layout layout = cnn2().layout;
  Buffer running(layout.statistic_floats);
  initial_statistics(layout, running.data());
  Buffer sums(layout.statistic_floats);
  const Tensor& mean = layout.statistic("bn1.running_mean");
  const Tensor& variance = layout.statistic("bn2.running_var");
  sums.data()[mean.offset] = 8.0F;  // sum over 4 shards
  sums.data()[variance.offset] = 12.0F;
  update_statistics(layout, sums.data(), {4, 2}, running);
  CHECK(running.data()[mean.offset] == doctest::Approx(0.2));
  const double n = 2 * 14 * 14;
  CHECK(running.data()[variance.offset] == doctest::Approx(0.9 + 0.3 * n / (n - 1)));
}

TEST_CASE("the digest sees a change of one bit anywhere, and of the step") {
  const Layout layout = cnn2().layout;
  State state(layout);
  const std::uint64_t before = digest(state);
  for (Buffer* const buffer : {&state.weights, &state.momentum, &state.running}) {
    float& last = buffer->data()[buffer->size() - 1];
    last = -0.0F;
    CHECK(digest(state) != before);
    last = 0.0F;
  }
  state.step = 1;
  CHECK(digest(state) != before);
  state.step = 0;
  CHECK(digest(state) == before);
}

TEST_CASE("initial weights are a function of the seed, within the bound of their layer") {
  const Layout layout = cnn2().layout;
  Buffer a(layout.parameter_floats);
  Buffer b(layout.parameter_floats);
  initial_weights(layout, 5, a.data());
  initial_weights(layout, 5, b.data());
  CHECK(std::equal(a.data(), a.data() + a.size(), b.data()));
  initial_weights(layout, 6, b.data());
  CHECK_FALSE(std::equal(a.data(), a.data() + a.size(), b.data()));
  const Tensor& fc1 = layout.parameter("fc1.weight");
  double square = 0;
  for (std::size_t i = 0; i < fc1.count; ++i) {
    const double w = static_cast<double>(a.data()[fc1.offset + i]);
    REQUIRE(std::abs(w) <= 1 / std::sqrt(1568.0));
    square += w * w;
  }
  CHECK(square / static_cast<double>(fc1.count) * 3 * 1568 == doctest::Approx(1).epsilon(0.02));
}
