// SPDX-License-Identifier: Apache-2.0
// What may be done about each cause, and how often: the defaults, and what `--on` makes of them.
// Pure.
#pragma once

#include "core/base/diagnostics.hpp"
#include "core/base/result.hpp"
#include "core/run/event/action.hpp"
#include "core/run/event/cause.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::run {

// Causes that draw on one budget.
enum class Kind {
  preempted,
  signalled,
  node_failed,
  timeout,
  crash,
  launch,
  checkpointed,
  exit,
  damaged,
  disk,
  ended
};

[[nodiscard]] Kind kind_of(Cause cause);
[[nodiscard]] const char* to_string(Kind kind);

struct Rule {
  Action action = Action::stop;    // restart, requeue, resubmit or stop
  std::optional<unsigned> most{};  // times a run may draw on its kind's budget; absent: no limit
  bool chosen = false;             // `most` is a person's, by `--on`
};

struct Policy {
  std::map<Cause, Rule> rules;         // of the causes that leave a choice
  std::chrono::seconds time_total{0};  // of all attempts together; 0: no limit

  [[nodiscard]] Rule rule(Cause cause) const;
};

// Preempted, put back, a node lost, out of time: back into the queue, no limit. Ended by a signal
// that nothing explains: likewise, 20 times. A crash: 3 times in
// the same allocation, a broken GPU elsewhere; a failed launch: twice. The program's own failure
// and a full disk: stop. (The numbers are those of NVIDIA's resiliency extension.)
[[nodiscard]] Policy default_policy();

// The default, changed by `on`: "preempted=requeue,timeout=resubmit,crash=restart:5,hang=stop". On
// the left a kind or a single cause, the later wins; on the right an action and, after a colon,
// a budget of its own, a number or `unlimited`; else that of the default stays. Every mistake at
// once.
[[nodiscard]] tl::expected<Policy, Diagnostics> parse_policy(std::string_view on);

}  // namespace dts::run
