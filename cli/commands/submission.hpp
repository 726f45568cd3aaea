// SPDX-License-Identifier: Apache-2.0
// What a site must not do for a job of ours to be submitted there.
#pragma once

#include "core/base/result.hpp"
#include "core/sched/scheduler.hpp"

namespace dts::cli {

// Errc::invalid where the site gives a meaning of its own to an exit code of ours: a job that says
// "saved, run me again" (85) or "do not restart" (93) would be requeued or held behind our back.
[[nodiscard]] Result<void> check_exit_codes(sched::Scheduler& scheduler);

}  // namespace dts::cli
