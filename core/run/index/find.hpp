// SPDX-License-Identifier: Apache-2.0
// Maps what a user types (a job id, a run's name, a folder, "last") to the run directory.
#pragma once

#include "core/base/result.hpp"
#include "core/run/directory/run_directory.hpp"

#include <optional>
#include <string>
#include <vector>

namespace dts::run {

// Our own runs below `root`, oldest first (by the time in their names). Omits runs that belong to
// another user, or that others may write to, since their contents would be executed.
[[nodiscard]] std::vector<RunDirectory> list_runs(const std::string& root);

// Opens the run in `folder`. Errc::not_found if there is none; Errc::invalid, naming the problem,
// if it is not exclusively ours (see open_own_folder()).
[[nodiscard]] Result<RunDirectory> open_run(const std::string& folder);

// Finds the run that `what` refers to. Errc::not_found with a hint if nothing matches;
// Errc::invalid if the only run that matches, or could match, is not exclusively ours.
[[nodiscard]] Result<RunDirectory> find_run(const std::string& root, const std::string& what);

// The run in `root` whose job has this name. Several runs often have the same one, and `cancel`
// must not guess: then Errc::not_found, and the hint lists them. nullopt: there is none, or the
// text looks like a job id ("77", "77_3", "77+1"), which may be that of a run elsewhere.
[[nodiscard]] std::optional<Result<RunDirectory>> find_job_name(const std::string& root,
                                                                const std::string& job);

}  // namespace dts::run
