// SPDX-License-Identifier: Apache-2.0
// The closed forms, against numbers that others published and against optima found by search.
#include "core/reliability/interval.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace dts;
using namespace dts::reliability;

namespace {

constexpr double k_infinite = std::numeric_limits<double>::infinity();
constexpr double k_hour = 3600;

// The interval at which the renewal form is best, by golden section.
double best_interval(double save, double mttf) {
  const auto ettr = [&](double interval) {
    return renewal_ettr(Seconds(interval), Seconds(save), Seconds(mttf), Seconds(600));
  };
  const double ratio = (std::sqrt(5.0) - 1) / 2;
  double low = 1, high = 3 * mttf;
  while (high - low > 1e-4 * low) {
    const double a = high - ratio * (high - low), b = low + ratio * (high - low);
    (ettr(a) > ettr(b) ? high : low) = ettr(a) > ettr(b) ? b : a;
  }
  return low;
}

}  // namespace

TEST_CASE("mean time to failure of published clusters (gate e)") {
  CHECK(mean_time_to_failure(2048, 6.5).count() / k_hour == doctest::Approx(1.8).epsilon(0.05));
  CHECK(mean_time_to_failure(16384, 6.5).count() / k_hour == doctest::Approx(0.23).epsilon(0.05));
  CHECK(mean_time_to_failure(2048, 3.79).count() / k_hour == doctest::Approx(3.09).epsilon(0.005));
  CHECK(mean_time_to_failure(2048, 0).count() == k_infinite);
  CHECK(mean_time_to_failure(0, 6.5).count() == k_infinite);
}

// Gate h: 7.9 h were measured at 1024 GPUs; small jobs die mostly of what is not their nodes.
TEST_CASE("1024 GPUs of RSC-1 are not explained by their nodes, as the manual says") {
  const double modelled = mean_time_to_failure(128, 6.5).count() / k_hour;
  CHECK(modelled == doctest::Approx(28.8).epsilon(0.005));
  CHECK(modelled / 7.9 == doctest::Approx(3.6).epsilon(0.02));
}

TEST_CASE("Daly's interval is the one that his figures 3 to 5 give, in whole minutes") {
  CHECK(daly_interval(Seconds(300), Seconds(24 * k_hour)).count() / 60 ==
        doctest::Approx(117).epsilon(0.005));
  CHECK(daly_interval(Seconds(300), Seconds(6 * k_hour)).count() / 60 ==
        doctest::Approx(57).epsilon(0.009));
  CHECK(daly_interval(Seconds(300), Seconds(900)).count() / 60 ==
        doctest::Approx(9.1).epsilon(0.006));
}

TEST_CASE("the best interval found by search is Daly's (gate c)") {
  for (const double mttf : {0.23 * k_hour, 1.8 * k_hour, 3.09 * k_hour, 28.8 * k_hour})
    for (const double save : {2.0, 10.0, 30.0, 120.0}) {
      CAPTURE(mttf);
      CAPTURE(save);
      const double daly = daly_interval(Seconds(save), Seconds(mttf)).count();
      CHECK(best_interval(save, mttf) == doctest::Approx(daly).epsilon(0.01));
      const double young = young_interval(Seconds(save), Seconds(mttf)).count();
      CHECK(young == doctest::Approx(std::sqrt(2 * save * mttf)));
      CHECK(young > daly);
    }
}

TEST_CASE("intervals at their limits") {
  CHECK(daly_interval(Seconds(200), Seconds(100)).count() == 100);  // saves take longer than runs
  CHECK(daly_interval(Seconds(1e9), Seconds(100)).count() == 100);
  CHECK(young_interval(Seconds(0), Seconds(100)).count() == 0);
  CHECK(young_interval(Seconds(0), Seconds(k_infinite)).count() == 0);
  CHECK(checkpoint_interval(Seconds(0), Seconds(100)).count() == 1);
  CHECK(checkpoint_interval(Seconds(20), Seconds(k_infinite)).count() == k_infinite);
  CHECK(checkpoint_interval(Seconds(20), Seconds(0.1)).count() == 1);
  CHECK(checkpoint_interval(Seconds(300), Seconds(900)).count() ==
        daly_interval(Seconds(300), Seconds(900)).count());
}

// ETTR at the best interval: w = 60, u0 = 600; w = 20, u0 = 180; w = 2, u0 = 60. Computed
// elsewhere.
TEST_CASE("both closed forms give the reference table") {
  struct Row {
    double gpus, rate, kokolis[3], renewal[3];
  };

  const Row rows[] = {
      {1024, 6.5, {.961, .979, .993}, {.961, .979, .993}},
      {4096, 6.5, {.912, .955, .985}, {.912, .955, .985}},
      {10000, 3.79, {.891, .945, .982}, {.892, .945, .982}},
      {16384, 3.79, {.850, .926, .976}, {.854, .926, .976}},
      {16384, 6.5, {.787, .898, .966}, {.796, .899, .966}},
      {32768, 6.5, {.658, .843, .947}, {.692, .846, .948}},
      {100000, 6.5, {.246, .671, .886}, {.448, .700, .890}},
      {131072, 6.5, {.085, .604, .861}, {.381, .650, .867}},
  };
  const double save[] = {60, 20, 2}, recovery[] = {600, 180, 60};
  for (const Row& row : rows)
    for (int i = 0; i < 3; ++i) {
      CAPTURE(row.gpus);
      CAPTURE(i);
      const Seconds w(save[i]), u0(recovery[i]);
      const Seconds mttf = mean_time_to_failure(row.gpus / 8, row.rate);
      // The table's interval is Daly's of first order.
      const Seconds interval = young_interval(w, mttf) - w;
      CHECK(std::abs(kokolis_ettr(interval, w, mttf, u0) - row.kokolis[i]) < 0.0011);
      CHECK(std::abs(renewal_ettr(interval, w, mttf, u0) - row.renewal[i]) < 0.0011);
    }
}

TEST_CASE("a start that can fail is Daly's model: mttf e^(R/mttf) (e^((interval+save)/mttf) - 1)") {
  const double interval = 1000, save = 50, mttf = 4000, restart = 700;
  const double segment = mttf * std::exp(restart / mttf) * (std::exp((interval + save) / mttf) - 1);
  CHECK(
      renewal_ettr(Seconds(interval), Seconds(save), Seconds(mttf), Seconds(0), Seconds(restart)) ==
      doctest::Approx(interval / segment).epsilon(1e-12));
}

TEST_CASE("closed forms at their limits") {
  const Seconds interval(1000), save(10), u0(100), never(k_infinite);
  CHECK(kokolis_ettr(interval, save, never, u0) == doctest::Approx(1 / 1.01));
  CHECK(renewal_ettr(interval, save, never, u0) == doctest::Approx(1 / 1.01));
  CHECK(renewal_ettr(interval, Seconds(0), never, u0) == 1);
  CHECK(kokolis_ettr(interval, save, Seconds(100), u0) == 0);  // out of its domain: never below 0
  CHECK(renewal_ettr(interval, save, Seconds(1), u0) == 0);    // e^1010 overflows
}

TEST_CASE(
    "what is reckoned with before anything is known: a failure a day, and those of the nodes") {
  CHECK(expected_time_to_failure(1).count() / k_hour == doctest::Approx(24).epsilon(0.007));
  // 1024 GPUs of RSC-1: 28.8 h by their nodes, 7.9 h measured.
  CHECK(expected_time_to_failure(128).count() / k_hour == doctest::Approx(13.1).epsilon(0.005));
  CHECK(expected_time_to_failure(2048).count() / k_hour == doctest::Approx(1.68).epsilon(0.005));
}

TEST_CASE("a run's own record takes over from what was expected") {
  struct Row {
    double expected, running;  // hours
    unsigned failures;
    double learnt;
  };

  for (const Row& row : {Row{24, 0, 0, 24},
                         Row{24, 24, 0, 48},     // a day without a failure
                         Row{24, 1, 1, 12.5},    // one in its first hour
                         Row{24, 10, 10, 3.09},  // ten in ten
                         Row{24, 1000, 100, 10.14}}) {
    CAPTURE(row.failures);
    CAPTURE(row.running);
    const Seconds learnt = learnt_time_to_failure(
        Seconds(row.expected * k_hour), row.failures, Seconds(row.running * k_hour));
    CHECK(learnt.count() / k_hour == doctest::Approx(row.learnt).epsilon(0.001));
  }
}
