// SPDX-License-Identifier: Apache-2.0
#include "core/reliability/interval.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dts::reliability {
namespace {

constexpr Seconds k_forever{std::numeric_limits<double>::infinity()};
constexpr Seconds k_shortest{1};

}  // namespace

Seconds mean_time_to_failure(double nodes, double rate) {
  const double per_day = nodes * rate / 1000;
  return per_day > 0 ? Seconds(86400 / per_day) : k_forever;
}

Seconds young_interval(Seconds save, Seconds mttf) {
  return save.count() > 0 ? Seconds(std::sqrt(2 * save.count() * mttf.count())) : Seconds(0);
}

Seconds daly_interval(Seconds save, Seconds mttf) {
  if (save >= 2 * mttf) return mttf;
  const double half = save / (2 * mttf);
  return young_interval(save, mttf) * (1 + std::sqrt(half) / 3 + half / 9) - save;
}

Seconds checkpoint_interval(Seconds save, Seconds mttf) {
  if (!std::isfinite(mttf.count())) return k_forever;
  return std::max(k_shortest, daly_interval(save, mttf));
}

Seconds expected_time_to_failure(unsigned nodes) {
  constexpr double k_node_rate = 6.5;    // in 1000 days
  constexpr double k_other_rate = 1000;  // likewise
  return mean_time_to_failure(1, nodes * k_node_rate + k_other_rate);
}

Seconds learnt_time_to_failure(Seconds expectation, unsigned failures, Seconds running) {
  return (expectation + running) / (1.0 + failures);
}

double kokolis_ettr(Seconds interval, Seconds save, Seconds mttf, Seconds recovery) {
  if (!std::isfinite(mttf.count())) return 1 / (1 + save / interval);
  const double lost = (recovery + interval / 2) / mttf;
  return std::max(0.0, 1 - lost) / (1 + save / interval);
}

double renewal_ettr(Seconds interval, Seconds save, Seconds mttf, Seconds idle, Seconds start) {
  if (!std::isfinite(mttf.count())) return 1 / (1 + save / interval);
  const double segments = 1 / std::expm1((interval + save) / mttf);  // saved between failures
  return segments * std::exp(-(start / mttf)) * (interval / (mttf + idle));
}

}  // namespace dts::reliability
