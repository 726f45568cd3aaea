// SPDX-License-Identifier: Apache-2.0
// What may be done after each cause, and how often: the defaults, and how `--on` changes them.
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

// Groups of causes that share one budget.
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
  std::optional<unsigned> most{};  // limit of the budget of its kind; absent: no limit
  bool chosen = false;             // `most` was set by the user with `--on`
};

struct Policy {
  std::map<Cause, Rule> rules;         // for causes that leave a choice
  std::chrono::seconds time_total{0};  // of all attempts together; 0: no limit

  [[nodiscard]] Rule rule(Cause cause) const;
};

// Preempted, requeued, a lost node, out of time: requeue without limit. Ended by an unexplained
// signal: requeue, 20 times. A crash: 3 restarts in the same allocation, but on other nodes after a
// broken GPU. A failed launch: 2 restarts. The program's own failure and a full disk: stop. (The
// numbers are those of NVIDIA's resiliency extension.)
[[nodiscard]] Policy default_policy();

// The default, changed by `on`: "preempted=requeue,timeout=resubmit,crash=restart:5,hang=stop". The
// left side is a kind or a single cause; later entries take precedence. The right side is an action
// and, after a colon, a budget of its own (a number or `unlimited`), without which the default's
// budget is kept. All mistakes are reported at once.
[[nodiscard]] tl::expected<Policy, Diagnostics> parse_policy(std::string_view on);

}  // namespace dts::run
