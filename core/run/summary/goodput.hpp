// SPDX-License-Identifier: Apache-2.0
// How a run's time was spent. Pure.
#pragma once

#include "core/run/ledger/ledger.hpp"
#include "core/run/summary/summary.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dts::run {

enum class Phase {
  computing,   // steps that were not repeated
  queued,      // submitted or requeued, but no agent yet
  starting,    // from the agent's start to the program's first step
  saving,      // checkpoints, except one made for a stop
  lost,        // steps that the next attempt repeated
  stopping,    // from the request to stop to the end of the attempt
  down,        // no attempt and none requested: back-off, a lost agent, a run stopped by the user
  unmeasured,  // programs ran but reported no steps, or none lately: use unknown
  stalled,     // without progress, before a hang was found
};

inline constexpr std::array k_phases{Phase::computing,
                                     Phase::queued,
                                     Phase::starting,
                                     Phase::saving,
                                     Phase::lost,
                                     Phase::stopping,
                                     Phase::down,
                                     Phase::unmeasured,
                                     Phase::stalled};

[[nodiscard]] const char* to_string(Phase phase);

struct TimeUse {
  std::array<std::chrono::milliseconds, k_phases.size()> spent{};  // by phase
  // Programs ran without reporting steps, even if `unmeasured` has no time.
  bool has_unmeasured = false;

  std::chrono::milliseconds& operator[](Phase phase) {
    return spent[static_cast<std::size_t>(phase)];
  }

  std::chrono::milliseconds operator[](Phase phase) const {
    return spent[static_cast<std::size_t>(phase)];
  }

  [[nodiscard]] std::chrono::milliseconds total() const;
  // The share of computing in the total, 0 to 1. Negative if no time has passed, or if programs
  // have run and none of their time was measured.
  [[nodiscard]] double goodput() const;
};

struct Goodput {
  TimeUse run;                           // from the run's creation to its end, or to `until`
  std::map<unsigned, TimeUse> attempts;  // including the wait before each; a wait that no attempt
                                         // has ended yet counts for the run alone
};

// Computed from the run's own events (whole seconds) and its program's reports (summarise()).
// The time between two events belongs to one phase, so the phases of the run add up exactly to
// its wall time, and those of the attempts to no more. `until` ends a run that has no end;
// later events count as if they had happened then. If an agent vanished, its attempt counts as
// down from the program's last report on. If the program reports no steps in any attempt, all
// time after its start is unmeasured. In an attempt that still runs, the time since
// `last_report`, its program's latest report, is unmeasured as well if it exceeds a few
// seconds, since the program may hang.
[[nodiscard]] Goodput account(
    const std::vector<Event>& events,
    const RunSummary& summary,
    std::chrono::system_clock::time_point until,
    std::optional<std::chrono::system_clock::time_point> last_report = {});

// Seconds by name of phase, with their total as "wall"; for JSON.
[[nodiscard]] std::map<std::string, double> in_seconds(const TimeUse& use);

// "93 % of 2 h 14 min computing; queued 10 min, lost 40 s": the phases of at least a second,
// longest first. "unknown: the program reported no steps; ..." if goodput() is negative. Empty if
// no time has passed.
[[nodiscard]] std::string in_words(const TimeUse& use);

// "40 s", "10 min 5 s", "2 h", "3 d 2 h": the two largest units, to the nearest second.
[[nodiscard]] std::string duration_words(std::chrono::milliseconds time);

}  // namespace dts::run
