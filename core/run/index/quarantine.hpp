// SPDX-License-Identifier: Apache-2.0
// Nodes that a user's jobs do without for a while, because of what they did to earlier ones. Pure,
// thread-safe.
//
// The rule. A failed pre-flight and a broken GPU are facts of the node: one is enough. A launch
// that failed there and a hang that named it may be the program's own doing: two within 24 hours,
// of different runs. A quarantine lasts 24 hours, the next one twice as long, 8 days at most; after
// 30 days without a strike all is forgotten. (A few nodes with many failures are what large
// clusters report: Kokolis et al., "Revisiting Reliability in Large-Scale Machine Learning Research
// Clusters", HPCA 2025, section on lemon nodes, arXiv 2410.21680.)
#pragma once

#include "core/run/ledger/decision.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace dts::run {

using WallTime = std::chrono::system_clock::time_point;

inline constexpr const char* k_preflight_strike = "preflight";
inline constexpr const char* k_released = "released";  // by a person: what was before is forgotten

// One line of the quarantine's file.
struct Strike {
  std::string time;  // ISO 8601 UTC
  std::string node;
  std::string cause;  // "preflight", "released", or a Cause in words
  std::string run;    // its run directory
  unsigned attempt = 0;
  std::string detail;  // for people
};

struct Quarantined {
  std::string node;
  WallTime since{};
  WallTime until{};
  Strike last{};       // the one that did it
  unsigned times = 1;  // how often the node has been here
};

[[nodiscard]] std::string to_line(const Strike& strike);

// Every line that is a strike; others (torn by a crash, of a later release) are passed over.
[[nodiscard]] std::vector<Strike> parse_strikes(const std::string& text);

// The nodes in quarantine at `now`, those that have been there longest first.
[[nodiscard]] std::vector<Quarantined> quarantined(const std::vector<Strike>& strikes,
                                                   WallTime now);

// The strikes that can still matter.
[[nodiscard]] std::vector<Strike> worth_keeping(const std::vector<Strike>& strikes, WallTime now);

// The strikes that follow from the end of an attempt, without a time: one for each unfit node,
// otherwise one for the node named by a GPU error, a failed launch or a hang.
[[nodiscard]] std::vector<Strike> strikes_of(const Outcome& outcome,
                                             const std::string& run,
                                             unsigned attempt);

}  // namespace dts::run
