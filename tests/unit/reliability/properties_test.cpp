// SPDX-License-Identifier: Apache-2.0
// What holds of every simulated run.
#include "core/base/random.hpp"
#include "core/reliability/expected.hpp"
#include "core/reliability/interval.hpp"
#include "core/reliability/nodes.hpp"
#include "tests/unit/reliability/models.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

using namespace dts;
using namespace dts::reliability;
using namespace dts::tests;

namespace {

std::chrono::nanoseconds sum(const Outcome& run) {
  return std::accumulate(run.time.begin(), run.time.end(), std::chrono::nanoseconds(0));
}

// A valid model with anything in it; each part is left out half of the time.
Model any_model(Random& random) {
  const auto some = [&](double most) {
    return random.uniform() < 0.5 ? 0 : most * random.uniform() * random.uniform();
  };
  const auto whole = [&](double most) { return static_cast<unsigned>(some(most)); };
  Model model;
  model.nodes = 1 + whole(3000);
  model.wall = days(0.01 + some(60));
  model.cluster_nodes = random.uniform() < 0.5 ? 0 : model.nodes + whole(100);
  model.repair = Seconds(some(2e5));
  model.failures = {.node_rate = some(100),
                    .lemon_share = some(0.2),
                    .lemon_factor = 1 + some(30),
                    .infant_factor = 1 + some(5),
                    .infant_time = days(some(20)),
                    .switch_rate = some(100),
                    .switch_nodes = 1 + whole(64),
                    .slow_rate = some(10),
                    .slow_time = Seconds(some(20000)),
                    .corruption_rate = some(5),
                    .corruption_latency = Seconds(some(5000)),
                    .preemptions_per_day = some(50)};
  model.policy.save = Seconds(some(300));
  model.policy.detect = Seconds(some(3000));
  model.policy.requeue_delay = Seconds(some(3000));
  model.policy.start = Seconds(some(3000));
  model.policy.grace = Seconds(some(300));
  model.policy.spares = whole(20);
  model.policy.quarantine_after = whole(4);
  if (random.uniform() < 0.5) model.policy.checkpoint_every = Seconds(1 + some(20000));
  return model;
}

}  // namespace

TEST_CASE("accounting closes to the nanosecond, whatever happens (gate a)") {
  Random random(2026, 1);
  for (unsigned k = 0; k < 500; ++k) {
    CAPTURE(k);
    const Model model = any_model(random);
    REQUIRE(validate(model, 1).empty());
    const Outcome run = simulate_once(model, 1, k);
    CHECK(sum(run) == std::chrono::duration_cast<std::chrono::nanoseconds>(model.wall));
    for (const auto time : run.time) CHECK(time.count() >= 0);
    CHECK(static_cast<double>(run.events) < 100 + 3 * expected_events(model, 1));
  }
}

TEST_CASE("the means of many runs close too") {
  const auto estimate = simulate(eventful(), 1, 30).value();
  Seconds total(0);
  for (const Seconds time : estimate.time) total += time;
  CHECK(std::abs(total / eventful().wall - 1) < 1e-9);
  CHECK(estimate.failures ==
        doctest::Approx(estimate.of(Count::node_failures) + estimate.of(Count::switch_failures) +
                        estimate.of(Count::corruptions)));
  for (std::size_t i = 0; i < k_states; ++i) {
    CAPTURE(to_string(static_cast<State>(i)));
    CHECK(estimate.time[i].count() > 0);
  }
  for (std::size_t i = 0; i < k_counts; ++i) {
    CAPTURE(to_string(static_cast<Count>(i)));
    CHECK(estimate.count[i] > 0);
  }
}

TEST_CASE("without failures nothing is lost (gate b)") {
  Model model = gpu_run(100000, 0, 20, 180);
  Outcome run = simulate_once(model, 1, 0);
  CHECK(run.of(State::computing) == sum(run));  // who never fails never saves
  CHECK(run.events == 0);
  model.policy.checkpoint_every = Seconds(980);
  model.policy.start = Seconds(100);
  run = simulate_once(model, 1, 0);
  CHECK(run.of(State::starting) == std::chrono::seconds(100));
  CHECK(run.of(State::lost).count() == 0);
  CHECK(run.of(State::detecting).count() == 0);
  CHECK(run.of(State::queued).count() == 0);
  CHECK(run.of(Count::saves) == (2592000 - 100) / 1000);
  CHECK(*expected_goodput(model) == doctest::Approx(0.98));
}

TEST_CASE("more failures, dearer saves and slower recoveries never help (gate i)") {
  const std::pair<const char*, std::function<void(Model&, double)>> worse[] = {
      {"rate", [](Model& m, double x) { m.failures.node_rate *= x; }},
      {"save", [](Model& m, double x) { m.policy.save *= x; }},
      {"requeue", [](Model& m, double x) { m.policy.requeue_delay *= x; }},
      {"start", [](Model& m, double x) { m.policy.start *= x; }},
      {"detect", [](Model& m, double x) { m.policy.detect *= x; }},
      {"preemptions", [](Model& m, double x) { m.failures.preemptions_per_day *= x; }},
  };
  Model base = gpu_run(16384, 2, 10, 60);
  base.wall = days(300);
  base.policy.requeue_delay = base.policy.start = Seconds(60);
  base.failures.preemptions_per_day = 4;
  for (const auto& row : worse) {
    double simulated = 1, expected = 1;
    for (double factor = 1; factor < 20; factor *= 2) {
      CAPTURE(row.first);
      CAPTURE(factor);
      Model model = base;
      row.second(model, factor);
      const double now = goodput(model, 20);
      CHECK(now < simulated);
      CHECK(*expected_goodput(model) < expected);
      simulated = now;
      expected = *expected_goodput(model);
    }
  }
}

TEST_CASE("spares, warnings and a larger cluster never harm") {
  Model model = gpu_run(16384, 6.5, 20, 60);
  model.policy.requeue_delay = Seconds(900);
  model.failures.preemptions_per_day = 10;
  const double plain = goodput(model);
  model.policy.spares = 4;
  const double spared = goodput(model);
  CHECK(spared > plain + 0.01);
  model.policy.grace = Seconds(19.9);  // too short for a save
  CHECK(goodput(model) == spared);
  model.policy.grace = Seconds(20);
  CHECK(goodput(model) > spared);
  const double unlimited = goodput(model);
  model.cluster_nodes = model.nodes + 4;
  const double limited = goodput(model);
  CHECK(limited < unlimited - 0.1);
  model.cluster_nodes = model.nodes + 200;
  CHECK(goodput(model) == doctest::Approx(unlimited).epsilon(0.001));
}

TEST_CASE("a cluster without a node to spare is down until repairs end") {
  Model model = gpu_run(8, 1000, 20, 0);  // one node that fails once a day
  model.cluster_nodes = 1;
  model.repair = days(1);
  model.wall = days(3000);
  model.policy.requeue_delay = Seconds(3600);
  const Outcome run = simulate_once(model, 1, 0);
  const auto failures = static_cast<double>(run.of(Count::node_failures));
  CHECK(Seconds(run.of(State::down)).count() == doctest::Approx(failures * 82800).epsilon(0.01));
  CHECK(Seconds(run.of(State::queued)).count() == doctest::Approx(failures * 3600).epsilon(0.01));
  CHECK(failures == doctest::Approx(1500).epsilon(0.1));
}

TEST_CASE("the same seed gives the same numbers on every machine") {
  const Outcome one = simulate_once(eventful(), 42, 0), again = simulate_once(eventful(), 42, 0);
  CHECK(one.time == again.time);
  CHECK(one.count == again.count);
  CHECK(simulate_once(eventful(), 43, 0).time != one.time);
  CHECK(simulate_once(eventful(), 42, 1).time != one.time);
  // Written down once: they may only change with the model itself.
  const std::array<std::int64_t, k_states> time{2195419422431120,
                                                53992819913283,
                                                95171344335386,
                                                114178570871103,
                                                13230000000000,
                                                25821000000000,
                                                61734914241189,
                                                32451928207919};
  const std::array<std::uint64_t, k_counts> count{408, 30, 10, 33, 17, 84, 77, 371, 171, 4756};
  for (std::size_t i = 0; i < k_states; ++i) CHECK(one.time[i].count() == time[i]);
  CHECK(one.count == count);
}

TEST_CASE("the interval of confidence is Student's") {
  const Model model = gpu_run(16384, 6.5, 20, 180);
  std::vector<double> goodputs;
  for (unsigned k = 0; k < 5; ++k)
    goodputs.push_back(Seconds(simulate_once(model, 9, k).of(State::computing)) / model.wall);
  const double mean = std::accumulate(goodputs.begin(), goodputs.end(), 0.0) / 5;
  double squares = 0;
  for (const double goodput : goodputs) squares += (goodput - mean) * (goodput - mean);
  const auto estimate = simulate(model, 9, 5).value();
  CHECK(estimate.goodput == doctest::Approx(mean).epsilon(1e-12));
  CHECK(estimate.goodput_error ==
        doctest::Approx(2.776 * std::sqrt(squares / 4 / 5)).epsilon(1e-9));
  CHECK(estimate.goodput_least == *std::min_element(goodputs.begin(), goodputs.end()));
  CHECK(simulate(model, 9, 1).value().goodput_error == 0);
  // Of 100 such intervals about 95 hold the truth.
  int holds = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto some = simulate(model, seed, 40).value();
    holds += std::abs(some.goodput - *expected_goodput(model)) < some.goodput_error;
  }
  CHECK(holds >= 87);
}

TEST_CASE("as many spares as a switch has nodes save every second queue") {
  Model model = gpu_run(16384, 0, 20, 100);
  model.failures.switch_rate = 50;
  model.failures.switch_nodes = 8;
  model.policy.requeue_delay = Seconds(1000);
  const Seconds mttf = mean_time_to_failure(model);
  for (const auto& [spares, idle] :
       {std::pair{7U, 1100.0}, std::pair{8U, 600.0}, std::pair{16U, 100 + 1000 / 3.0}}) {
    model.policy.spares = spares;
    const double expected = renewal_ettr(interval_of(model), Seconds(20), mttf, Seconds(idle));
    CHECK(*expected_goodput(model) == doctest::Approx(expected).epsilon(1e-9));
    CHECK(mean_recovery(model).count() == doctest::Approx(idle));
  }
}

TEST_CASE("an allocation has no more spares than the cluster has nodes that work") {
  Model model = gpu_run(80, 1, 20, 60);
  model.cluster_nodes = 11;
  model.policy.spares = 5;
  model.repair = Seconds(100);
  const auto at = [](int s) { return std::chrono::seconds(s); };
  Nodes nodes(model);
  CHECK(nodes.replace(1, at(0)));
  CHECK_FALSE(nodes.replace(1, at(10)));
  CHECK_FALSE(nodes.allocate(at(99)));
  CHECK(nodes.next_repair() == std::optional<Nanoseconds>(at(100)));
  CHECK(nodes.allocate(at(100)));
  CHECK_FALSE(nodes.replace(1, at(105)));
  CHECK(nodes.allocate(at(110)));
  CHECK_FALSE(nodes.replace(2, at(110)));
}

TEST_CASE("there is no closed form for what has none") {
  const auto without = [](auto change) {
    Model model = gpu_run(16384, 6.5, 20, 180);
    CHECK(expected_goodput(model));
    change(model);
    CHECK_FALSE(expected_goodput(model));
  };
  without([](Model& m) { m.failures.infant_factor = 2; });
  without([](Model& m) { m.failures.corruption_rate = 1; });
  without([](Model& m) { m.cluster_nodes = 3000; });
  without([](Model& m) { m.failures.lemon_share = 0.1, m.policy.quarantine_after = 2; });
}
