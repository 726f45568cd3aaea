// SPDX-License-Identifier: Apache-2.0
// The history of a run, from its ledger and its metrics. Pure.
#pragma once

#include "core/run/ledger/ledger.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dts::run {

// A rank that was slower than the others, see launch/attempt/watch/straggler.hpp.
struct SlowRank {
  std::optional<unsigned> rank;
  std::string node;
  Recorded<SlowPhase> phase;
  std::string detail;  // a sentence
};

struct AttemptSummary {
  unsigned number = 0;
  JobId job{};
  std::vector<std::string> nodes;
  std::string started;    // ISO 8601 UTC
  std::string ended;      // empty: running, or its agent vanished
  Recorded<Cause> cause;  // of its end, otherwise of its stop request
  Recorded<Action> decision;
  std::string detail;
  std::string reason;            // of the decision
  std::string continued;         // which command requested the next attempt, if any, and how
  std::string checkpoint;        // the latest when it ended
  std::string part;              // in a composed run: the part that ended it
  std::string node;              // where the first failing rank was, if known
  std::optional<unsigned> rank;  // the first that failed
  std::optional<int> exit_code;
  std::string training;     // ISO 8601 UTC: when the program's first step began; empty: not known
  double step_seconds = 0;  // all its steps together, as far as the program reported them
  double save_seconds = 0;  // all its checkpoints together, except one made for a stop
  std::vector<SlowRank> slow;
  std::vector<std::string> binding;  // how its ranks deviate from the planned binding
  std::vector<std::string> warnings;
  bool said_done = false;        // the metrics have the event "done"
  std::int64_t first_step = -1;  // completed steps when it began; -1: not known
  std::int64_t last_step = -1;   // completed steps when it ended
  std::int64_t steps_lost = -1;  // done in this attempt but not resumed from by the next; -1: its
                                 // program reported no steps, or no attempt has continued yet
  bool makes_progress = false;   // reported a step, in its metrics or its heartbeat
  std::string resumable;         // the latest checkpoint when it began
  bool all_saved = false;        // its end lost no work, according to every rank
  bool anew = false;             // began at step 0 although there was a checkpoint
  std::string staging;           // progress of its nodes' staging, in words; empty: not staging
  std::string
      quiet;  // since when its programs have shown no sign of life, in words; empty: they do
};

struct RunSummary {
  JobId job{};  // the latest
  std::vector<AttemptSummary> attempts;
  bool done = false;
  std::int64_t total_steps = -1;  // according to the program's latest start
  double accuracy = -1;           // from the "done" metric; negative: none
  std::string digest;             // the latest
  std::int64_t steps_lost = -1;   // over all attempts, as far as known; -1: none reported a step
  Advised advice;                 // the latest advice on saving; may be empty
  std::vector<unsigned> damaged_metrics;  // line numbers, from 1, of truncated objects
};

// `metrics` is the text of metrics.jsonl (may be empty). Other lines in it are skipped, since the
// file belongs to the program.
[[nodiscard]] RunSummary summarise(const std::vector<Event>& events, const std::string& metrics);

}  // namespace dts::run
