// SPDX-License-Identifier: Apache-2.0
// What can happen to a run: one type per event, with the members that only this event has. `detail`
// is always a sentence for users. For the form on disk, see core/run/event/event_fields.hpp.
#pragma once

#include "core/base/job_id.hpp"
#include "core/base/text/duration.hpp"
#include "core/run/event/action.hpp"
#include "core/run/event/cause.hpp"
#include "core/run/event/recorded.hpp"
#include "core/run/event/slow_phase.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace dts::run {

template <>
[[nodiscard]] inline std::optional<Cause> value_named<Cause>(std::string_view name) {
  return cause_from(name);
}

template <>
[[nodiscard]] inline std::optional<Action> value_named<Action>(std::string_view name) {
  return action_from(name);
}

template <>
[[nodiscard]] inline std::optional<SlowPhase> value_named<SlowPhase>(std::string_view name) {
  return slow_phase_from(name);
}

struct Created {};

struct Submitted {
  std::string detail{};
};

// `dtsubmit requeue`: a user requested that the run continue.
struct Resumed {
  std::string detail{};
};

struct AttemptStarted {
  std::string detail{};
  std::vector<std::string> nodes{};
  std::string checkpoint{};  // the latest; empty: none
};

struct RanksStarted {
  std::string detail{};
};

struct StopRequested {
  Recorded<Cause> cause{};
  std::string detail{};
};

struct AttemptEnded {
  Recorded<Cause> cause{};
  std::optional<int> exit_code{};
  std::string detail{};
  std::string checkpoint{};            // the latest; empty: none
  std::string part{};                  // in a composed run: the part that ended it
  std::optional<unsigned> rank{};      // the first that failed
  std::string node{};                  // the node of that rank, if known
  std::optional<std::int64_t> step{};  // the latest that the program reported
  bool saved = false;                  // see saves_otherwise()
  bool unsaved = false;                // not every rank saved when asked to
  std::optional<Seconds> save{};       // duration of a checkpoint
  std::optional<Seconds> stalled{};    // for a hang: time without progress before it was found
};

struct Decided {
  std::optional<int> exit_code{};
  Recorded<Action> decision{};
  std::string detail{};
  std::string exclude{};                    // host list that the next attempt must avoid
  std::map<std::string, double> seconds{};  // at the run's end, see run/summary/goodput.hpp
};

// The same job is in the queue again.
struct Requeued {
  std::string detail{};
};

// The event's job is the new one.
struct Resubmitted {
  std::string detail{};
};

struct NodeUnfit {
  std::string detail{};
  std::string node{};
};

// How often the program should save.
struct Advised {
  std::string detail{};
  std::optional<Seconds> every{};
  std::optional<Seconds> failure{};  // expected time between two failures
  std::optional<Seconds> save{};     // duration of a checkpoint
};

struct Straggler {
  std::string detail{};
  std::optional<unsigned> rank{};
  std::string node{};
  Recorded<SlowPhase> phase{};
  std::optional<Seconds> others{};  // time that the other ranks need
  std::optional<Seconds> own{};
};

// A rank is not bound as planned.
struct Binding {
  std::string detail{};
};

struct Warning {
  std::string detail{};
};

// The attempt's programs show no sign of life.
struct Quiet {
  std::string detail{};
  std::optional<unsigned> rank{};
  std::string node{};
};

// The attempt's programs show a sign of life again.
struct Heard {
  std::string detail{};
};

// The progress of staging on the nodes, before the job's programs start.
struct Staging {
  std::string detail{};
  std::string node{};  // the slowest node
};

// Written by a later release.
struct Unknown {
  std::string name{};
  std::string detail{};
  std::string line{};  // as read; written back unchanged
};

using EventData = std::variant<Created,
                               Submitted,
                               Resumed,
                               AttemptStarted,
                               RanksStarted,
                               StopRequested,
                               AttemptEnded,
                               Decided,
                               Requeued,
                               Resubmitted,
                               NodeUnfit,
                               Advised,
                               Straggler,
                               Binding,
                               Warning,
                               Quiet,
                               Heard,
                               Staging,
                               Unknown>;

struct Event {
  std::string time{};    // ISO 8601 UTC
  unsigned attempt = 0;  // 0: before the first attempt
  JobId job{};           // empty: no scheduler
  EventData what{};

  // Null if this is another event.
  template <class Type>
  [[nodiscard]] const Type* as() const {
    return std::get_if<Type>(&what);
  }

  template <class Type>
  [[nodiscard]] Type* as() {
    return std::get_if<Type>(&what);
  }

  // True for an event of one of these types.
  template <class... Types>
  [[nodiscard]] bool is() const {
    return (std::holds_alternative<Types>(what) || ...);
  }
};

// The event's name in a ledger.
[[nodiscard]] std::string_view event_name(const Event& event);

// Empty if the event has none.
[[nodiscard]] const std::string& detail_of(const Event& event);

// True for a decision after which nothing follows.
[[nodiscard]] bool ends_run(const Event& event);

}  // namespace dts::run
