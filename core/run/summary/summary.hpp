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
  std::string checkpoint;        // the newest one at its end
  std::string node;              // where the first failing rank was, where that is known
  std::optional<unsigned> rank;  // the first that failed
  std::optional<int> exit_code;
  std::string training;     // ISO 8601 UTC: when the program's first step began; empty: unknown
  double step_seconds = 0;  // that its steps took together, as far as the program told
  double save_seconds = 0;  // the same of its checkpoints, without one made for a stop
  std::vector<SlowRank> slow;
  std::vector<std::string> binding;  // in what its ranks were not bound as planned
  std::vector<std::string> warnings;
  bool said_done = false;        // a metric with the event "done"
  std::int64_t first_step = -1;  // completed steps when it began; -1: unknown
  std::int64_t last_step = -1;   // completed steps when it ended
  std::int64_t steps_lost = -1;  // done in this attempt but not resumed from by the next; -1:
                                 // its program told no steps, or nobody has gone on yet
  bool gets_on = false;          // it told of a step, by its metrics or its heartbeat
  std::string resumable;         // the newest checkpoint when it began
  bool all_saved = false;        // its end cost no work: every rank said so
  bool anew = false;             // it began at step 0 though there was one
  std::string quiet;             // since when nothing is seen of its programs, in words; empty:
                                 // they are heard of
};

struct RunSummary {
  JobId job{};  // the newest
  std::vector<AttemptSummary> attempts;
  bool done = false;
  std::int64_t total_steps = -1;  // as the newest start of the program says
  double accuracy = -1;           // of the "done" metric; negative: none
  std::string digest;             // of the last step
  std::int64_t steps_lost = -1;   // over all attempts, as far as known; -1: none told a step
  Advised advice;                 // the newest on saving; may be empty
  std::vector<unsigned> damaged_metrics;  // numbers of lines, from 1, that are half an object
};

// `metrics` is the text of metrics.jsonl (may be empty); lines that are not ours are skipped: the
// file belongs to the program.
[[nodiscard]] RunSummary summarise(const std::vector<Event>& events, const std::string& metrics);

}  // namespace dts::run
