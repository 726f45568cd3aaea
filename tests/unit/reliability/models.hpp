// SPDX-License-Identifier: Apache-2.0
// Models that several tests look at.
#pragma once

#include "core/reliability/simulate.hpp"

namespace dts::tests {

// `gpus` on nodes of 8, `rate` failures of a node in 1000 days, saves of `save` seconds; `recovery`
// seconds after each failure, in which nothing fails, as in the closed forms.
inline reliability::Model gpu_run(double gpus, double rate, double save, double recovery) {
  reliability::Model model;
  model.nodes = static_cast<unsigned>(gpus / 8);
  model.failures.node_rate = rate;
  model.policy.save = Seconds(save);
  model.policy.detect = Seconds(recovery);
  model.policy.requeue_delay = Seconds(0);
  model.policy.start = Seconds(0);
  return model;
}

inline Seconds days(double count) {
  return Seconds(count * 86400);
}

inline double goodput(const reliability::Model& model, unsigned repetitions = 50) {
  return reliability::simulate(model, 1, repetitions).value().goodput;
}

// Everything that can happen does.
inline reliability::Model eventful() {
  reliability::Model model;
  model.nodes = 500;
  model.cluster_nodes = 570;
  model.failures = {.node_rate = 20,
                    .lemon_share = 0.02,
                    .lemon_factor = 15,
                    .infant_factor = 4,
                    .infant_time = days(5),
                    .switch_rate = 30,
                    .switch_nodes = 16,
                    .slow_rate = 5,
                    .corruption_rate = 1,
                    .preemptions_per_day = 3};
  model.policy.spares = 4;
  model.policy.grace = Seconds(30);
  model.policy.quarantine_after = 3;
  return model;
}

}  // namespace dts::tests
