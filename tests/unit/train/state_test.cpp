// SPDX-License-Identifier: Apache-2.0
// Optimizer, schedule, running statistics and digest.
#include "core/train/checkpoint/state.hpp"

#include "core/train/device/kernels.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace dts::train;

TEST_CASE("momentum SGD with a constant gradient follows its closed form") {
  constexpr int k_steps = 20;
  constexpr double k_lr = 0.1;
  constexpr double k_beta = 0.9;
  float weight[17];
  float momentum[17] = {};
  float gradient[17];
  for (int i = 0; i < 17; ++i) {
    weight[i] = 1;
    gradient[i] = static_cast<float>(i) - 8;
  }
  for (int step = 0; step < k_steps; ++step)
    sgd({weight, momentum}, {weight, momentum}, {gradient, 17, k_lr, k_beta});
  // m_k = g (1 - b^k) / (1 - b), so the weights move by lr g (n - b (1 - b^n) / (1 - b)) / (1 - b).
  const double moved =
      k_lr * (k_steps - k_beta * (1 - std::pow(k_beta, k_steps)) / (1 - k_beta)) / (1 - k_beta);
  for (int i = 0; i < 17; ++i) {
    CHECK(weight[i] == doctest::Approx(1 - moved * (i - 8)).epsilon(1e-5));
    CHECK(momentum[i] ==
          doctest::Approx((i - 8) * (1 - std::pow(k_beta, k_steps)) / (1 - k_beta)).epsilon(1e-5));
  }
}

TEST_CASE("the learning rate rises, stays or falls as its schedule says") {
  Optimizer optimizer{0.4, 0.9, 10, Schedule::constant, 110};
  CHECK(learning_rate(optimizer, 0) == doctest::Approx(0.04));
  CHECK(learning_rate(optimizer, 9) == doctest::Approx(0.4));
  CHECK(learning_rate(optimizer, 109) == doctest::Approx(0.4));
  optimizer.schedule = Schedule::cosine;
  CHECK(learning_rate(optimizer, 10) == doctest::Approx(0.4));
  CHECK(learning_rate(optimizer, 60) == doctest::Approx(0.2));
  CHECK(learning_rate(optimizer, 110) == doctest::Approx(0.0));
  CHECK(learning_rate(optimizer, 500) == doctest::Approx(0.0));
  optimizer.warmup = 0;
  CHECK(learning_rate(optimizer, 0) == doctest::Approx(0.4));
}

TEST_CASE("running statistics move a tenth of the way to the mean over shards") {
  const Layout layout = cnn2_layout();
  Buffer running(layout.statistic_floats);
  initial_statistics(layout, running.data());
  Buffer sums(layout.statistic_floats);
  const Tensor& mean = layout.statistic("bn1.running_mean");
  const Tensor& variance = layout.statistic("bn2.running_var");
  sums.data()[mean.offset] = 8.0F;  // of 4 shards together
  sums.data()[variance.offset] = 12.0F;
  update_statistics(layout, sums.data(), {4, 2}, running);
  CHECK(running.data()[mean.offset] == doctest::Approx(0.2));
  const double n = 2 * 14 * 14;
  CHECK(running.data()[variance.offset] == doctest::Approx(0.9 + 0.3 * n / (n - 1)));
}

TEST_CASE("the digest sees a change of one bit anywhere, and of the step") {
  const Layout layout = cnn2_layout();
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
  const Layout layout = cnn2_layout();
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
