// SPDX-License-Identifier: Apache-2.0
// The result of a drill, and whether it agrees with what the run's policy promises. Pure.
#pragma once

#include "core/drill/fault.hpp"
#include "core/run/ledger/policy.hpp"
#include "core/run/summary/summary.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dts::drill {

struct Shown {
  Fault fault{};
  run::AttemptSummary attempt{};  // the attempt that was hit, as it ended
  bool ended = false;             // the run ended for good after the fault
  // Seconds from the fault to the program's next sign of activity: a step that counts, or if it
  // reports no steps, output or a checkpoint. Absent if there was none.
  std::optional<double> seconds{};
  std::string sign{"a step"};  // the kind of sign that was seen, or is awaited
  int left = 0;                // processes of that attempt when the next one began
};

// Further requirements for a run on a private cluster.
struct Strictness {
  std::int64_t interval = 0;  // steps between two checkpoints
  std::string digest{};       // of the drilled run's last step
  std::string undisturbed{};  // of the same training without a fault
};

// One sentence for each requirement that was not met; empty if the drill has passed. A run whose
// policy is to stop after this cause passes if it has stopped.
[[nodiscard]] std::vector<std::string> faults_found(const Shown& shown,
                                                    const run::Policy& policy,
                                                    const std::optional<Strictness>& strictness);

}  // namespace dts::drill
