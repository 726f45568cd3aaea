// SPDX-License-Identifier: Apache-2.0
// Checks of a site's configuration before a job is submitted there.
#pragma once

#include "core/base/result.hpp"
#include "core/plan/plan.hpp"
#include "core/sched/scheduler.hpp"

#include <string>
#include <vector>

namespace dts::cli {

// Errc::invalid if the site gives one of our exit codes a meaning of its own: a job that exits with
// "saved, run me again" (85) or "do not restart" (93) would be requeued or held behind our back.
[[nodiscard]] Result<void> check_exit_codes(const sched::ConfigInfo& config);

// The nodes that this user's jobs on that cluster should avoid now, in the form that
// plan::make_plan() takes. A quarantine that cannot be read counts as empty, with a message on
// standard error.
[[nodiscard]] std::vector<plan::ClusterView::Avoided> avoided_nodes(const std::string& cluster);

}  // namespace dts::cli
