// SPDX-License-Identifier: Apache-2.0
// Checks a site's configuration before a job is submitted there.
#pragma once

#include "core/base/result.hpp"
#include "core/plan/plan.hpp"
#include "core/sched/scheduler.hpp"

#include <string>
#include <vector>

namespace dts::cli {

// Errc::invalid if the site assigns its own meaning to one of our exit codes: a job that exits with
// "saved, run me again" (85) or "do not restart" (93) would be requeued or held without us.
[[nodiscard]] Result<void> check_exit_codes(const sched::ConfigInfo& config);

// The nodes that this user's jobs on that cluster should currently avoid, as input for
// plan::make_plan(). An unreadable quarantine counts as empty, with a message on standard error.
[[nodiscard]] std::vector<plan::ClusterView::Avoided> avoided_nodes(const std::string& cluster);

}  // namespace dts::cli
