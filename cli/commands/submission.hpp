// SPDX-License-Identifier: Apache-2.0
// What a site must not do for a job of ours to be submitted there.
#pragma once

#include "core/base/result.hpp"
#include "core/plan/plan.hpp"
#include "core/sched/scheduler.hpp"

#include <string>
#include <vector>

namespace dts::cli {

// Errc::invalid where the site gives a meaning of its own to an exit code of ours: a job that says
// "saved, run me again" (85) or "do not restart" (93) would be requeued or held behind our back.
[[nodiscard]] Result<void> check_exit_codes(const sched::ConfigInfo& config);

// The nodes that this user's jobs on that cluster should do without now, as plan::make_plan() takes
// them. A quarantine that cannot be read is empty, with a word on standard error.
[[nodiscard]] std::vector<plan::ClusterView::Avoided> avoided_nodes(const std::string& cluster);

}  // namespace dts::cli
