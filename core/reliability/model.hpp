// SPDX-License-Identifier: Apache-2.0
// The simulated model: one long run, how its nodes fail, and the policy for its recovery.
#pragma once

#include "core/base/diagnostics.hpp"
#include "core/base/text/duration.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::reliability {

struct Failures {
  double node_rate = 0;             // of a node, in 1000 days
  double lemon_share = 0;           // share of nodes, 0 to 1, that fail more often ...
  double lemon_factor = 1;          // ... than the others, by this factor
  double infant_factor = 1;         // a node's rate at the start over its later one, ...
  Seconds infant_time{0};           // ... to which it falls linearly
  double switch_rate = 0;           // of a rack or switch, in 1000 days, ...
  unsigned switch_nodes = 32;       // ... with all the nodes behind it
  double slow_rate = 0;             // of a node, in 1000 days: it slows the whole run ...
  Seconds slow_time{3600};          // ... for this long on average, exponentially distributed, ...
  double slow_factor = 1.34;        // ... by this factor (Falcon, arXiv 2410.12588)
  double corruption_rate = 0;       // silent data corruptions of a node, in 1000 days, ...
  Seconds corruption_latency{600};  // ... found after this much running
  double preemptions_per_day = 0;   // of the run
};

struct Policy {
  std::optional<Seconds>
      checkpoint_every;  // computing time between saves; if absent: checkpoint_interval()
  Seconds save{20};      // time for which a save blocks the ranks
  Seconds detect{30};    // from a failure to its discovery
  // Time in the queue before each new allocation. 151 s is the minimum under Slurm's defaults:
  // KillWait 30 s, then cred_expire 120 s + 1 s before a requeued job is eligible.
  Seconds requeue_delay{151};
  Seconds start{60};    // launching, loading and warming up; restarted by a failure
  Seconds grace{0};     // usable warning before a preemption; useless if shorter than a save
  unsigned spares = 0;  // nodes of each allocation kept to replace broken ones without queueing
  unsigned quarantine_after = 0;  // failures of a node until it is excluded; 0: never
};

struct Model {
  unsigned nodes = 2048;            // nodes that the run computes on
  Seconds wall = Seconds(2592000);  // length of the run: 30 days
  unsigned cluster_nodes = 0;       // available to the run, spares included; 0: unlimited
  Seconds repair{86400};            // until a broken node of a finite cluster is back
  Failures failures;
  Policy policy;
};

// A published rate of node failures.
struct Preset {
  const char* name;
  double node_rate;  // in 1000 node-days
  const char* source;
};

[[nodiscard]] const std::vector<Preset>& presets();

// Poisson rates of the events that stop a run's computing, per second.
struct Rates {
  double node = 0;  // of all nodes together, without infants
  double switches = 0;
  double corruption = 0;
  double preemption = 0;

  [[nodiscard]] double sum() const { return node + switches + corruption + preemption; }
};

[[nodiscard]] Rates rates(const Model& model);

// Events per second of `units` units if each has `rate` in 1000 days.
[[nodiscard]] double mean_rate(double rate, double units);

// Nodes of the run that are lemons.
[[nodiscard]] unsigned lemons(const Model& model);

// Whether a preemption's warning is long enough to save.
[[nodiscard]] bool saves_on_preemption(const Policy& policy);

// The mean time between events that cost unsaved work (preemptions with enough warning do not).
[[nodiscard]] Seconds mean_time_to_failure(const Model& model);

// The policy's interval, or the best one for its saves and these failures.
[[nodiscard]] Seconds interval_of(const Model& model);

// An upper bound on the mean number of simulated events in `repetitions` runs of the model.
[[nodiscard]] double expected_events(const Model& model, unsigned repetitions);

constexpr double k_most_events = 2e7;  // seconds of work
constexpr unsigned k_most_repetitions = 10'000;

// All problems that prevent a simulation of the model, each named by its command line option
// ("--save-time"). A model without problems ends within k_most_events.
[[nodiscard]] Diagnostics validate(const Model& model, unsigned repetitions);

}  // namespace dts::reliability
