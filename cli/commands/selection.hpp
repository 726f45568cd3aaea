// SPDX-License-Identifier: Apache-2.0
// The options with which status, logs, cancel and requeue name a run.
#pragma once

#include "core/base/result.hpp"
#include "core/run/run_directory.hpp"
#include "core/sched/scheduler.hpp"

#include <string>

namespace CLI {
class App;
}

namespace dts::cli {

struct Selection {
  std::string what = "last";  // job id, run name, folder
  std::string runs = "runs";
};

void add_selection(CLI::App& verb, Selection& selection, bool required);

[[nodiscard]] Result<run::RunDirectory> find(const Selection& selection);

// The newest job id of a run; Errc::not_found where it never had one (`dtsubmit run`).
[[nodiscard]] Result<sched::JobId> job_of(const run::RunDirectory& run);

}  // namespace dts::cli
