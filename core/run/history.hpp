// SPDX-License-Identifier: Apache-2.0
// What a run's ledger says about the attempts so far, as the decision needs it. Pure.
#pragma once

#include "core/run/decision.hpp"
#include "core/run/ledger.hpp"

#include <optional>
#include <vector>

namespace dts::run {

// failures, without_progress, hasty and elapsed; the other fields keep their defaults. Since the
// last `dtsubmit requeue`: that is a person's word that the cause is gone.
[[nodiscard]] Circumstances count_failures(const std::vector<Event>& events);

// The newest attempt that started and has no end; nullopt if all have one.
[[nodiscard]] std::optional<unsigned> unfinished_attempt(const std::vector<Event>& events);

}  // namespace dts::run
