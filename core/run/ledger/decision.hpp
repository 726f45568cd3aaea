// SPDX-License-Identifier: Apache-2.0
// What happens after an attempt, as a pure function of its end and the run's history.
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
  int exit_code = 1;                       // of the first rank that failed, or 85, or 0
  std::string detail;                      // one sentence for users: which rank, where
  std::optional<unsigned> rank{};          // the first that failed, if any
  std::string node{};                      // where it failed, if known
  std::chrono::seconds stalled{0};         // for a hang: time without progress before it was found
  bool unsaved = false;                    // not every rank saved when asked to
  std::optional<unsigned> unsaved_rank{};  // the first of them, if known
  std::vector<UnfitNode> unfit{};          // all nodes that failed their pre-flight check
  std::string part{};                      // in a composed run: the part that ended it
  bool port_changes = false;               // a port was taken that the next attempt will not use
  std::string detail_if_saved{};  // replaces `detail` if checkpoints show that it saved; or empty
  bool goes_on = false;           // it may have gone on after that checkpoint, and not all is saved
  bool may_be_done = false;  // after a stop request, every rank exited 0 or was killed by the stop
};

// Who asked a run to save and end, in words.
inline constexpr const char* k_asked_by_user = "asked for by `dtsubmit stop`";
inline constexpr const char* k_asked_by_part = "another part of the job has ended";

// In the detail of Cause::no_program: the program itself may exist.
inline constexpr const char* k_runtime_failed = "the container's runtime did not start the program";

struct Circumstances {
  bool in_scheduler = false;            // false: `dtsubmit run`
  bool may_requeue = true;              // --requeue
  bool already_requeued = false;        // the job is pending again
  std::string stop_asked{};             // by whom, whatever ended the attempt; empty: by nobody
  bool has_spares = false;              // the allocation has enough nodes without the failed ones
  std::map<Kind, unsigned> failures{};  // attempts so far, including this one, by kind
  unsigned without_progress = 0;        // crashes in a row, including this one, that saved nothing
  unsigned unproven = 0;  // ends that requested another run since the last attempt with a new
                          // checkpoint or a step beyond all earlier ones
  std::chrono::seconds elapsed{0};  // of all attempts so far together

  [[nodiscard]] unsigned count(Kind kind) const {
    const auto found = failures.find(kind);
    return found == failures.end() ? 0 : found->second;
  }
};

struct Decision {
  Action action = Action::stop;
  int exit_code = 1;  // of the agent, and therefore of the job, if the action is done or stop
  std::string why;
  std::string exclude{};          // host list that the next attempt must avoid; empty: none
  std::chrono::seconds delay{0};  // before a restart
};

// The command by which a user continues a run that has ended, in backquotes.
[[nodiscard]] const char* way_to_continue(bool in_scheduler);

// The pause before a restart after that many failures without progress: 0, 1, 2, 4 ... 60 s.
[[nodiscard]] std::chrono::seconds back_off(unsigned failures);

// Two crashes in a row without a new checkpoint end a run whatever its budget, because a third
// would be no different. Three requests to be run again (exit 85) without proof of progress also
// end it, unless `--on` sets a budget for them. A restart after an attempt without progress waits
// 1, 2, 4 ... 60 s.
[[nodiscard]] Decision decide(const Outcome& outcome,
                              const Circumstances& now,
                              const Policy& policy);

}  // namespace dts::run
