// SPDX-License-Identifier: Apache-2.0
// Nodes that a user's jobs avoid for a while because they harmed earlier jobs. Pure, thread-safe.
//
// The rule: a failed pre-flight or `dtsubmit check`, a broken GPU and bits that changed are facts
// about the node, so one is enough. A launch that failed on it or a hang blamed on it may be the
// program's own fault, so it takes two within 24 hours, from different runs. A port that was taken
// is no strike: two of the program's own processes may have listened on it. A quarantine lasts 24
// hours, each further one twice as long, at most 8 days; after 30 days without a strike everything
// is forgotten. (Large clusters report that a few nodes cause many of the failures: Kokolis et al.,
// "Revisiting Reliability in Large-Scale Machine Learning Research Clusters", HPCA 2025, section on
// lemon nodes, arXiv 2410.21680.)
#pragma once

#include "core/run/ledger/decision.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace dts::run {

using WallTime = std::chrono::system_clock::time_point;

inline constexpr const char* k_preflight_strike = "preflight";
inline constexpr const char* k_check_strike = "check";  // `dtsubmit check --quarantine`
inline constexpr const char* k_released = "released";   // by a user: clears the history

// One line of the quarantine file.
struct Strike {
  std::string time;  // ISO 8601 UTC
  std::string node;
  std::string cause;  // "preflight", "check", "released", or the name of a Cause
  std::string run;    // the run directory
  unsigned attempt = 0;
  std::string detail;  // for users
};

struct Quarantined {
  std::string node;
  WallTime since{};
  WallTime until{};
  Strike last{};       // the strike that caused it
  unsigned times = 1;  // how often the node has been in quarantine
};

[[nodiscard]] std::string to_line(const Strike& strike);

// All lines that are strikes. Other lines (torn by a crash, or of a later release) are skipped.
[[nodiscard]] std::vector<Strike> parse_strikes(const std::string& text);

// The nodes in quarantine at `now`, longest in quarantine first.
[[nodiscard]] std::vector<Quarantined> quarantined(const std::vector<Strike>& strikes,
                                                   WallTime now);

// The strikes that can still matter.
[[nodiscard]] std::vector<Strike> worth_keeping(const std::vector<Strike>& strikes, WallTime now);

// The strikes that result from the end of an attempt, without a time: one for each unfit node, or
// otherwise one for the node blamed for a GPU error, changed bits, a failed launch or a hang.
[[nodiscard]] std::vector<Strike> strikes_of(const Outcome& outcome,
                                             const std::string& run,
                                             unsigned attempt);

}  // namespace dts::run
