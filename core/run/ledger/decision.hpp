// SPDX-License-Identifier: Apache-2.0
// What happens after an attempt: a pure function of how it ended and of the run's history.
#pragma once

#include "core/run/event/cause.hpp"
#include "core/run/ledger/policy.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dts::run {

struct UnfitNode {
  std::string node;
  std::string why;
};

struct Outcome {
  Cause cause = Cause::launch_failed;
  int exit_code = 1;                // of the first rank that failed, or 85, or 0
  std::string detail;               // one sentence for people: which rank, where
  std::optional<unsigned> rank{};   // the first that failed, where one did
  std::string node{};               // where it failed, where that is known
  std::chrono::seconds stalled{0};  // of a hang: without progress before it was found
  bool unsaved = false;             // it was asked to save, and not every rank did
  std::vector<UnfitNode> unfit{};   // by their pre-flight, all of them
  bool may_be_done = false;         // asked to stop, every rank exited 0 or died of the stop
};

struct Circumstances {
  bool in_scheduler = false;            // false: `dtsubmit run`
  bool may_requeue = true;              // --requeue
  bool already_requeued = false;        // the job's state is pending again
  bool stop_asked = false;              // `dtsubmit stop`, whatever ended the attempt
  bool has_spares = false;              // the allocation has nodes enough without the failed ones
  std::map<Kind, unsigned> failures{};  // attempts so far, this one included, by kind
  unsigned without_progress = 0;        // crashes in a row, this one included, that saved nothing
  unsigned unproven = 0;                // ends that asked to be run again, since the last attempt
                                        // with a new checkpoint or a step beyond all before
  std::chrono::seconds elapsed{0};      // of all attempts so far together

  [[nodiscard]] unsigned count(Kind kind) const {
    const auto found = failures.find(kind);
    return found == failures.end() ? 0 : found->second;
  }
};

struct Decision {
  Action action = Action::stop;
  int exit_code = 1;  // of the agent, so of the job, where the action is done or stop
  std::string why;
  std::string exclude{};          // host list that the next attempt must not get; empty: none
  std::chrono::seconds delay{0};  // before a restart
};

// Two crashes in a row without a new checkpoint end a run whatever its budget: a third would do the
// same. So do three requests to be run again (exit 85) without proof of progress, unless `--on`
// gives a budget for them. A restart that follows an attempt without progress waits 1, 2, 4 ... 60
// s.
[[nodiscard]] Decision decide(const Outcome& outcome,
                              const Circumstances& now,
                              const Policy& policy);

}  // namespace dts::run
