// SPDX-License-Identifier: Apache-2.0
#include "core/reliability/expected.hpp"

#include "core/reliability/interval.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace dts::reliability {
namespace {

// The share of stops after which the run must queue: those that spare nodes could not absorb. The
// number of spare nodes left is a Markov chain that only falls until the run queues; the share
// follows from the mean length of that path.
double queued_part(const Model& model, const Rates& all) {
  const unsigned spares = model.policy.spares;
  const unsigned behind = std::min(model.failures.switch_nodes, model.nodes);
  const double node = all.node / all.sum();
  const double switches = all.switches / all.sum();
  std::vector<double> visits(spares + 1, 0.0);  // expected stops with this many spares left
  visits[spares] = 1;
  double stops = 0;
  for (unsigned left = spares + 1; left-- > 0;) {
    stops += visits[left];
    if (left >= 1) visits[left - 1] += visits[left] * node;
    if (left >= behind) visits[left - behind] += visits[left] * switches;
  }
  return 1 / stops;
}

// Mean time during a stop in which nothing can fail: detecting and queueing.
Seconds mean_idle(const Model& model, const Rates& all) {
  const double failures = (all.node + all.switches) / all.sum();
  return failures * model.policy.detect + queued_part(model, all) * model.policy.requeue_delay;
}

// Mean computing time since the newest checkpoint at a preemption.
double mean_unsaved(double interval, double save, double rate) {
  const double none = std::exp(-rate * (interval + save));
  return (-std::expm1(-rate * interval) / rate - interval * none) / (1 - none);
}

// The share of computing time that is not added by slow nodes. No node is slow with probability
// exp(-rate x mean length) (empty M/G/infinity queue).
double full_speed(const Failures& f, unsigned nodes) {
  const double all_fast = std::exp(-mean_rate(f.slow_rate, nodes) * f.slow_time.count());
  return all_fast + (1 - all_fast) / f.slow_factor;
}

}  // namespace

Seconds mean_recovery(const Model& model) {
  const Rates all = rates(model);
  if (!(all.sum() > 0)) return Seconds(0);
  return mean_idle(model, all) + model.policy.start;
}

std::optional<double> expected_goodput(const Model& model) {
  const Failures& f = model.failures;
  const Rates all = rates(model);
  const bool quarantine = model.policy.quarantine_after > 0 && lemons(model) > 0;
  if (f.infant_factor > 1 || all.corruption > 0 || quarantine || model.cluster_nodes > 0)
    return std::nullopt;
  const Seconds interval = interval_of(model);
  const Seconds save = model.policy.save;
  const Seconds between(1 / all.sum());
  const double speed = full_speed(f, model.nodes);
  if (!(all.sum() > 0)) return speed / (1 + save / interval);
  const Seconds idle = mean_idle(model, all);
  const double failures_only = renewal_ettr(interval, save, between, idle, model.policy.start);
  if (!saves_on_preemption(model.policy) || !(all.preemption > 0)) return speed * failures_only;
  // If the run had started, a preemption with enough warning adds a save, and the work that it
  // saved.
  const double running = std::exp(-(model.policy.start / between)) * all.preemption / all.sum();
  const double unsaved = std::isfinite(interval.count())
                             ? mean_unsaved(interval.count(), save.count(), all.sum())
                             : between.count();
  const double cycle = (between + idle).count();
  const double kept =
      (std::isfinite(interval.count()) ? failures_only * cycle : 0) + running * unsaved;
  return speed * kept / (cycle + running * save.count());
}

}  // namespace dts::reliability
