// SPDX-License-Identifier: Apache-2.0
// What a run's ledger shows about its attempts, as needed for the decision. Pure.
#pragma once

#include "core/base/text/duration.hpp"
#include "core/run/ledger/decision.hpp"
#include "core/run/ledger/ledger.hpp"

#include <optional>
#include <vector>

namespace dts::run {

// Sets failures, without_progress, unproven and elapsed; the other members keep their defaults.
// Counts from the last `dtsubmit requeue`, by which the user confirms that the cause is gone.
[[nodiscard]] Circumstances count_failures(const std::vector<Event>& events);

// How often the run's computation was interrupted since the last `dtsubmit requeue`.
struct FailureRecord {
  unsigned failures = 0;  // ends that lost work: a crash, a lost node, a stop without all saves
  Seconds running{0};     // while all ranks were running, as far as known
  Seconds save{0};        // duration of the last save, over the whole ledger; 0: not known
};

[[nodiscard]] FailureRecord failure_record(const std::vector<Event>& events);

// The latest attempt that started and has no end; nullopt if all have ended.
[[nodiscard]] std::optional<unsigned> unfinished_attempt(const std::vector<Event>& events);

// True if a user has asked the attempt to stop; not if another part of the job did, as it had
// ended.
[[nodiscard]] bool is_asked_to_stop(const std::vector<Event>& events, unsigned attempt);

// The latest attempt, if a user asked it to stop and its agent ended before it decided: the run
// must not continue until `dtsubmit requeue`. nullopt otherwise, and if its program was done.
[[nodiscard]] std::optional<unsigned> stopped_attempt(const std::vector<Event>& events);

// How many attempts in a row, up to the last that ended, have lost their agent without a new
// checkpoint since, or `dtsubmit requeue`.
[[nodiscard]] unsigned agents_lost_in_a_row(const std::vector<Event>& events);

// The decision that ended the run; null if the ledger shows that it continues. Points into
// `events`.
[[nodiscard]] const Event* final_decision(const std::vector<Event>& events);

// True if the run ended with the decision that it is complete.
[[nodiscard]] bool is_done(const std::vector<Event>& events);

// True if a command of ours took the run's job out of the queue, and nothing has continued it. Such
// a stop_requested belongs to no attempt.
[[nodiscard]] bool is_cancelled_in_queue(const std::vector<Event>& events);

}  // namespace dts::run
