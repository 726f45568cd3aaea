// SPDX-License-Identifier: Apache-2.0
// Models that are refused, each by the option that is wrong; presets; rates.
#include "core/reliability/model.hpp"

#include "core/reliability/interval.hpp"
#include "tests/unit/reliability/models.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <limits>

using namespace dts;
using namespace dts::reliability;
using namespace dts::tests;

namespace {

constexpr double k_infinity = std::numeric_limits<double>::infinity();
constexpr double k_nan = std::numeric_limits<double>::quiet_NaN();

struct Field {
  const char* option;
  std::function<void(Model&, double)> set;
};

const Field k_fields[] = {
    {"--days", [](Model& m, double x) { m.wall = Seconds(x); }},
    {"--repair", [](Model& m, double x) { m.repair = Seconds(x); }},
    {"--failure-rate", [](Model& m, double x) { m.failures.node_rate = x; }},
    {"--lemons", [](Model& m, double x) { m.failures.lemon_share = x; }},
    {"--lemons", [](Model& m, double x) { m.failures.lemon_factor = x; }},
    {"--infants", [](Model& m, double x) { m.failures.infant_factor = x; }},
    {"--infants", [](Model& m, double x) { m.failures.infant_time = Seconds(x); }},
    {"--switch-failures", [](Model& m, double x) { m.failures.switch_rate = x; }},
    {"--fail-slow", [](Model& m, double x) { m.failures.slow_rate = x; }},
    {"--fail-slow", [](Model& m, double x) { m.failures.slow_time = Seconds(x); }},
    {"--fail-slow", [](Model& m, double x) { m.failures.slow_factor = x; }},
    {"--corruptions", [](Model& m, double x) { m.failures.corruption_rate = x; }},
    {"--corruptions", [](Model& m, double x) { m.failures.corruption_latency = Seconds(x); }},
    {"--preemptions-per-day", [](Model& m, double x) { m.failures.preemptions_per_day = x; }},
    {"--checkpoint-every", [](Model& m, double x) { m.policy.checkpoint_every = Seconds(x); }},
    {"--save-time", [](Model& m, double x) { m.policy.save = Seconds(x); }},
    {"--detect", [](Model& m, double x) { m.policy.detect = Seconds(x); }},
    {"--requeue-delay", [](Model& m, double x) { m.policy.requeue_delay = Seconds(x); }},
    {"--start-time", [](Model& m, double x) { m.policy.start = Seconds(x); }},
    {"--grace", [](Model& m, double x) { m.policy.grace = Seconds(x); }},
};

// The options that validate() complains of.
std::vector<std::string> refused(const Model& model, unsigned repetitions = 1) {
  std::vector<std::string> options;
  for (const Diagnostic& problem : validate(model, repetitions)) options.push_back(problem.where);
  return options;
}

using Options = std::vector<std::string>;

}  // namespace

TEST_CASE("hostile numbers are refused by the option's name") {
  CHECK(refused(Model{}).empty());
  for (const Field& field : k_fields)
    for (const double value : {-1.0, -1e308, 1e308, k_infinity, -k_infinity, k_nan}) {
      CAPTURE(field.option);
      CAPTURE(value);
      Model model;
      field.set(model, value);
      CHECK(refused(model) == Options{field.option});
      CHECK_FALSE(simulate(model, 1, 1));
    }
}

TEST_CASE("counts are refused outside their ranges") {
  Model model;
  model.nodes = 0;
  CHECK(refused(model) == Options{"--nodes"});
  model.nodes = 4'000'000'000;
  model.policy.spares = 4'000'000'000;
  CHECK(refused(model) == Options{"--nodes", "--spares"});
  model = {};
  model.cluster_nodes = model.nodes - 1;
  CHECK(refused(model) == Options{"--cluster-nodes"});
  model = {};
  model.failures.switch_nodes = 0;
  CHECK(refused(model) == Options{"--switch-failures"});
  CHECK(refused(Model{}, 0) == Options{"--repeat"});
  CHECK(refused(Model{}, 10'001) == Options{"--repeat"});
}

TEST_CASE("what would take too many events is refused, whichever way it would") {
  const std::function<void(Model&)> much[] = {
      [](Model& m) { m.failures.node_rate = 1e9; },
      [](Model& m) { m.failures.switch_rate = 1e9; },
      [](Model& m) { m.failures.slow_rate = 1e9; },
      [](Model& m) { m.failures.corruption_rate = 1e9; },
      [](Model& m) { m.failures.preemptions_per_day = 1e9; },
      [](Model& m) { m.nodes = 1'000'000, m.failures.lemon_share = 1, m.failures.node_rate = 0.1; },
      [](Model& m) {
        m.nodes = m.failures.switch_nodes = m.cluster_nodes = 1'000'000;
        m.failures.switch_rate = 10'000;
      },
  };
  for (const auto& change : much) {
    Model model;
    change(model);
    CHECK(refused(model, 100) == Options{"--repeat"});
    const auto result = simulate(model, 1, 100);
    REQUIRE_FALSE(result);
    CHECK(result.error().code == Errc::usage);
    CHECK(result.error().message.find("more than 2e+07") != std::string::npos);
  }
}

TEST_CASE("models at their limits end") {
  for (const Field& field : k_fields) {
    Model model;
    model.nodes = 4;
    field.set(model, 366 * 86400.0);
    if (refused(model).empty()) CHECK(simulate_once(model, 1, 0).time[0].count() >= 0);
    field.set(model, 0);
    if (refused(model).empty()) CHECK(simulate_once(model, 1, 0).time[0].count() >= 0);
  }
}

TEST_CASE("presets are the published rates") {
  const std::vector<std::pair<std::string, double>> rates{{"llama3", 419 / 2048.0 / 54 * 1000},
                                                          {"rsc-1", 6.5},
                                                          {"rsc-2", 2.34},
                                                          {"opt-175b", 2 / 124.0 * 1000}};
  REQUIRE(presets().size() == rates.size());
  for (std::size_t i = 0; i < rates.size(); ++i) {
    CHECK(presets()[i].name == rates[i].first);
    CHECK(presets()[i].node_rate == doctest::Approx(rates[i].second).epsilon(0.002));
    CHECK(std::string(presets()[i].source).size() > 10);
  }
}

TEST_CASE("the interval is the policy's, else the best for what costs unsaved work") {
  Model model = gpu_run(16384, 3.79, 20, 60);
  const double daly = checkpoint_interval(Seconds(20), mean_time_to_failure(2048, 3.79)).count();
  const auto best = doctest::Approx(daly);
  CHECK(interval_of(model).count() == best);
  model.failures.preemptions_per_day = 100;
  CHECK(interval_of(model).count() < 0.5 * daly);
  model.policy.grace = Seconds(20);
  CHECK(interval_of(model).count() == best);
  model.policy.checkpoint_every = Seconds(77);
  CHECK(interval_of(model).count() == 77);
}

TEST_CASE("rates add up over nodes, lemons and switches") {
  Model model = gpu_run(8000, 2, 20, 60);
  CHECK(rates(model).node * 86400 == doctest::Approx(2.0));
  model.failures.lemon_share = 0.01;
  model.failures.lemon_factor = 51;
  CHECK(lemons(model) == 10);
  CHECK(rates(model).node * 86400 == doctest::Approx(3.0));
  model.failures.switch_rate = 50;
  model.failures.switch_nodes = 100;
  model.failures.corruption_rate = 0.5;
  model.failures.preemptions_per_day = 7;
  CHECK(rates(model).switches * 86400 == doctest::Approx(0.5));
  CHECK(rates(model).corruption * 86400 == doctest::Approx(0.5));
  CHECK(mean_time_to_failure(model).count() == doctest::Approx(86400 / 11.0));
  CHECK(expected_events(model, 3) == doctest::Approx(3 * (1 + 10 + 30 * 11.0)));
  model.failures.infant_factor = 4;
  CHECK(expected_events(model, 3) == doctest::Approx(3 * (1 + 10 + 30 * 20.0)));
}
