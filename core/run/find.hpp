// SPDX-License-Identifier: Apache-2.0
// From what a person types (a job id, a run's name, a folder, "last") to the run directory.
#pragma once

#include "core/base/result.hpp"
#include "core/run/run_directory.hpp"

#include <string>
#include <vector>

namespace dts::run {

// Runs below `root`, oldest first (by the time in their names).
[[nodiscard]] std::vector<RunDirectory> list_runs(const std::string& root);

// Errc::not_found with a hint where nothing matches.
[[nodiscard]] Result<RunDirectory> find_run(const std::string& root, const std::string& what);

}  // namespace dts::run
