// SPDX-License-Identifier: Apache-2.0
#include "core/reliability/model.hpp"

#include "core/reliability/interval.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace dts::reliability {
namespace {

constexpr double k_day = 86400;
constexpr unsigned k_most_nodes = 1'000'000;
constexpr double k_longest_wall = 3660 * k_day;  // its nanoseconds fit 64 bits easily
constexpr double k_longest_time = 366 * k_day;
constexpr double k_highest_rate = 1e9;

// Collects values outside their ranges; NaN always is.
class Ranges {
 public:
  void check(const char* option, double value, double low, double high, const char* unit = "") {
    if (value >= low && value <= high) return;
    problems.push_back(
        {option, fmt::format("from {:.10g} to {:.10g}{}, not {:.10g}", low, high, unit, value)});
  }

  void time(const char* option, Seconds value, double low = 0) {
    check(option, value.count(), low, k_longest_time, " seconds");
  }

  void rate(const char* option, double value) { check(option, value, 0, k_highest_rate); }

  Diagnostics problems;
};

void check_failures(Ranges& ranges, const Failures& f) {
  ranges.rate("--failure-rate", f.node_rate);
  ranges.check("--lemons", f.lemon_share, 0, 1);
  ranges.check("--lemons", f.lemon_factor, 1, 1e6);
  ranges.check("--infants", f.infant_factor, 1, 100);
  ranges.time("--infants", f.infant_time);
  ranges.rate("--switch-failures", f.switch_rate);
  ranges.check("--switch-failures", f.switch_nodes, 1, k_most_nodes);
  ranges.rate("--fail-slow", f.slow_rate);
  ranges.time("--fail-slow", f.slow_time);
  ranges.check("--fail-slow", f.slow_factor, 1, 100);
  ranges.rate("--corruptions", f.corruption_rate);
  ranges.time("--corruptions", f.corruption_latency);
  ranges.rate("--preemptions-per-day", f.preemptions_per_day);
}

void check_policy(Ranges& ranges, const Policy& p) {
  if (p.checkpoint_every) ranges.time("--checkpoint-every", *p.checkpoint_every, 1);
  ranges.time("--save-time", p.save);
  ranges.time("--detect", p.detect);
  ranges.time("--requeue-delay", p.requeue_delay);
  ranges.time("--start-time", p.start);
  ranges.time("--grace", p.grace);
  ranges.check("--spares", p.spares, 0, k_most_nodes);
}

}  // namespace

double mean_rate(double rate, double units) {
  return rate / 1000 / k_day * units;
}

const std::vector<Preset>& presets() {
  static const std::vector<Preset> k_presets{
      {"llama3", 3.79, "Llama 3 405B: 419 unexpected interruptions of 2048 nodes in 54 days"},
      {"rsc-1", 6.50, "Kokolis et al., HPCA 2025: Meta's RSC-1, 16 thousand A100"},
      {"rsc-2", 2.34, "Kokolis et al., HPCA 2025: Meta's RSC-2, 8 thousand A100"},
      {"opt-175b", 16.1, "OPT-175B logbook: about 2 of 124 nodes lost a day"},
  };
  return k_presets;
}

unsigned lemons(const Model& model) {
  return static_cast<unsigned>(std::lround(model.failures.lemon_share * model.nodes));
}

Rates rates(const Model& model) {
  const Failures& f = model.failures;
  const double weight = model.nodes + lemons(model) * (f.lemon_factor - 1);
  return {mean_rate(f.node_rate, weight),
          mean_rate(f.switch_rate, static_cast<double>(model.nodes) / f.switch_nodes),
          mean_rate(f.corruption_rate, model.nodes),
          f.preemptions_per_day / k_day};
}

bool saves_on_preemption(const Policy& policy) {
  return policy.grace.count() > 0 && policy.grace >= policy.save;
}

Seconds mean_time_to_failure(const Model& model) {
  Rates all = rates(model);
  if (saves_on_preemption(model.policy)) all.preemption = 0;
  return all.sum() > 0 ? Seconds(1 / all.sum()) : Seconds(std::numeric_limits<double>::infinity());
}

Seconds interval_of(const Model& model) {
  if (model.policy.checkpoint_every) return *model.policy.checkpoint_every;
  return checkpoint_interval(model.policy.save, mean_time_to_failure(model));
}

double expected_events(const Model& model, unsigned repetitions) {
  const Failures& f = model.failures;
  Rates all = rates(model);
  all.node *= f.infant_factor;  // the simulation draws at the highest rate and drops some
  const double slow = mean_rate(f.slow_rate, model.nodes);
  // In a finite cluster, the run may wait for repairs one node at a time.
  const double repairs = model.cluster_nodes > 0 ? all.node + all.switches * f.switch_nodes : 0;
  return repetitions * (1 + lemons(model) + (all.sum() + slow + repairs) * model.wall.count());
}

Diagnostics validate(const Model& model, unsigned repetitions) {
  Ranges ranges;
  ranges.check("--nodes", model.nodes, 1, k_most_nodes);
  ranges.check("--days", model.wall.count() / k_day, 1e-6, k_longest_wall / k_day);
  ranges.check("--repeat", repetitions, 1, k_most_repetitions);
  ranges.time("--repair", model.repair);
  if (model.cluster_nodes > 0)
    ranges.check("--cluster-nodes", model.cluster_nodes, model.nodes, 10.0 * k_most_nodes);
  check_failures(ranges, model.failures);
  check_policy(ranges, model.policy);
  if (!ranges.problems.empty()) return ranges.problems;
  const double events = expected_events(model, repetitions);
  if (events > k_most_events)
    ranges.problems.push_back(
        {"--repeat",
         fmt::format("{} repetitions are about {:.2g} events, more than {:.0g}",
                     repetitions,
                     events,
                     k_most_events),
         "lower --repeat, --days or the rates of what happens"});
  return ranges.problems;
}

}  // namespace dts::reliability
