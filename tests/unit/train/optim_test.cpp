// SPDX-License-Identifier: Apache-2.0
// Optimisers against their formulas in double precision, and learning rates.
#include "core/train/device/kernels.hpp"
#include "core/train/device/optimizer_kernels.hpp"
#include "core/train/optim/optimizer.hpp"
#include "core/train/optim/schedule.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

using namespace dts::train;

namespace {

constexpr int k_count = 19;  // not a multiple of a vector

// Some steps of an optimiser on k_count elements, with changing gradients.
struct OptimizerSteps {
  const OptimizerRow& row;
  OptimizerSettings settings;
  bool decays = true;
  std::vector<float> weights = std::vector<float>(k_count);
  std::vector<float> moments[2] = {std::vector<float>(k_count), std::vector<float>(k_count)};

  explicit OptimizerSteps(const char* name) : row(*find_optimizer(name)) {
    for (int i = 0; i < k_count; ++i) weights[static_cast<std::size_t>(i)] = gradient(i, 7);
  }

  static float gradient(int i, int step) {
    return static_cast<float>(std::sin(3 * i + step) + 0.1 * (i - 9));
  }

  void step(int index) {
    std::vector<float> gradients(k_count);
    for (int i = 0; i < k_count; ++i) gradients[static_cast<std::size_t>(i)] = gradient(i, index);
    std::vector<float> next(k_count);
    std::vector<float> next_moments[2] = {next, next};
    const float* const now[] = {moments[0].data(), moments[1].data()};
    float* const then[] = {next_moments[0].data(), next_moments[1].data()};
    row.update(settings,
               {0.01, static_cast<std::uint64_t>(index + 1)},
               {gradients.data(), weights.data(), next.data(), now, then, k_count, decays});
    weights = next;
    moments[0] = next_moments[0];
    moments[1] = next_moments[1];
  }

  // Checks each weight after `steps` steps of `formula(weight, gradient, first, second, step)`.
  template <class Formula>
  void check(int steps, const Formula& formula) {
    const std::vector<float> begin = weights;
    for (int index = 0; index < steps; ++index) step(index);
    for (int i = 0; i < k_count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      double w = static_cast<double>(begin[at]);
      double first = 0;
      double second = 0;
      for (int index = 0; index < steps; ++index)
        w = formula(w, static_cast<double>(gradient(i, index)), first, second, index + 1);
      CHECK(static_cast<double>(weights[at]) == doctest::Approx(w).epsilon(2e-6));
      CHECK(static_cast<double>(moments[0][at]) == doctest::Approx(first).epsilon(1e-5));
    }
  }
};

// Adam's direction.
double adam(double g, double& m, double& v, int t) {
  m = 0.9 * m + 0.1 * g;
  v = 0.999 * v + 0.001 * g * g;
  return m / (1 - std::pow(0.9, t)) / (std::sqrt(v / (1 - std::pow(0.999, t))) + 1e-8);
}

}  // namespace

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

TEST_CASE("SGD with weight decay, and with Nesterov's momentum") {
  OptimizerSteps plain("sgd");
  plain.settings.weight_decay = 0.1;
  plain.check(20, [](double w, double g, double& m, double&, int) {
    m = 0.9 * m + g + 0.1 * w;
    return w - 0.01 * m;
  });
  OptimizerSteps nesterov("nesterov");
  nesterov.settings.weight_decay = 0.1;
  nesterov.check(20, [](double w, double g, double& m, double&, int) {
    g += 0.1 * w;
    m = 0.9 * m + g;
    return w - 0.01 * (g + 0.9 * m);
  });
}

TEST_CASE("AdamW decays weights beside its direction, but not norms and biases") {
  for (const bool decays : {true, false}) {
    OptimizerSteps steps("adamw");
    steps.settings.weight_decay = 0.1;
    steps.decays = decays;
    steps.check(20, [&](double w, double g, double& m, double& v, int t) {
      const double direction = adam(g, m, v, t);
      return w * (decays ? 1 - 0.01 * 0.1 : 1) - 0.01 * direction;
    });
  }
}

TEST_CASE("LAMB leaves the direction of a tensor that decays, and moves one that does not") {
  OptimizerSteps steps("lamb");
  CHECK(steps.row.by_tensor);
  steps.settings.weight_decay = 0.1;
  const std::vector<float> begin = steps.weights;
  steps.step(0);
  for (int i = 0; i < k_count; ++i) {
    double m = 0;
    double v = 0;
    const auto at = static_cast<std::size_t>(i);
    const double u = adam(static_cast<double>(OptimizerSteps::gradient(i, 0)), m, v, 1) +
                     0.1 * static_cast<double>(begin[at]);
    CHECK(static_cast<double>(steps.weights[at]) == doctest::Approx(u).epsilon(1e-5));
  }
  OptimizerSteps bias("lamb");
  bias.decays = false;
  bias.check(20, [&](double w, double g, double& m, double& v, int t) {
    return w - 0.01 * adam(g, m, v, t);
  });
}

TEST_CASE("the learning rate rises, stays or falls as its schedule says") {
  const auto rate = [](const char* name, std::uint64_t step, double least = 0) {
    return learning_rate({0.4, 10, find_schedule(name)->shape, least, 110}, step);
  };
  CHECK(rate("constant", 0) == doctest::Approx(0.04));
  CHECK(rate("constant", 9) == doctest::Approx(0.4));
  CHECK(rate("constant", 109) == doctest::Approx(0.4));
  CHECK(rate("cosine", 10) == doctest::Approx(0.4));
  CHECK(rate("cosine", 60) == doctest::Approx(0.2));
  CHECK(rate("cosine", 110) == doctest::Approx(0.0));
  CHECK(rate("cosine", 500) == doctest::Approx(0.0));
  CHECK(rate("cosine", 110, 0.01) == doctest::Approx(0.01));
  CHECK(rate("linear", 35) == doctest::Approx(0.3));
  CHECK(rate("linear", 110) == doctest::Approx(0.0));
  CHECK(rate("step", 59) == doctest::Approx(0.4));
  CHECK(rate("step", 60) == doctest::Approx(0.04));
  CHECK(rate("step", 85) == doctest::Approx(0.004));
  CHECK(rate("wsd", 99) == doctest::Approx(0.4));
  CHECK(rate("wsd", 105) == doctest::Approx(0.2));
  CHECK(rate("wsd", 110) == doctest::Approx(0.0));
  CHECK(learning_rate({0.4, 0, find_schedule("cosine")->shape, 0, 110}, 0) == doctest::Approx(0.4));
  CHECK(find_schedule("fast") == nullptr);
}

TEST_CASE("a learning rate grows with the batch by its rule") {
  CHECK(batch_factor(BatchRule::none, 1024, 256) == 1);
  CHECK(batch_factor(BatchRule::linear, 1024, 256) == 4);
  CHECK(batch_factor(BatchRule::sqrt, 1024, 256) == 2);
  CHECK(batch_rule_of("sqrt") == BatchRule::sqrt);
  CHECK_FALSE(batch_rule_of("cubic"));
}
