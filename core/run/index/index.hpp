// SPDX-License-Identifier: Apache-2.0
// runs.jsonl in the user's state folder: where this user's runs are, so that they are found from
// any folder. It is a convenience: what it says is checked where it is used, and a run is as good
// without it.
#pragma once

#include "core/base/job_id.hpp"
#include "core/base/result.hpp"
#include "core/run/directory/run_directory.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::run {

// One line: a run, or one more job of it.
struct Indexed {
  std::string folder;   // the run directory, absolute
  JobId job{};          // the scheduler's id; empty: none
  std::string cluster;  // whose id that is: SLURM_CONF at the submission, empty where unset
};

[[nodiscard]] std::string to_line(const Indexed& entry);

// Every line that is one, oldest first; others (torn by a crash, of a later release) are passed
// over. Pure.
[[nodiscard]] std::vector<Indexed> parse_index(std::string_view text);

// The folders of `entries` that `what` (a job id, a run's name or "last") can refer to, the best
// first: for "last" the newest, otherwise the newest with that name, or with that job on `cluster`.
// No duplicates. Pure.
[[nodiscard]] std::vector<std::string> matches(const std::vector<Indexed>& entries,
                                               const std::string& what,
                                               const std::string& cluster);

// The user's index. Empty where there is none. Errors: of a file that is not ours alone.
[[nodiscard]] Result<std::vector<Indexed>> read_index();

// Adds a line, made 0600 in a folder made 0700; many processes on many machines may do that at
// once. The oldest lines are dropped once there is 1 MiB of them. Errors: a home that cannot be
// written, to be said as a warning only.
[[nodiscard]] Result<void> add_to_index(const Indexed& entry);

// SLURM_CONF of this process.
[[nodiscard]] std::string this_cluster();

// One more job of a run that is in the index; of the cluster of the job before.
[[nodiscard]] Result<void> add_job_to_index(const RunDirectory& run, const JobId& job);

// The newest that `what` (its folder, a job id or a name) means where nothing is in its place any
// more. Empty without an index.
[[nodiscard]] std::optional<Indexed> gone_from_index(const std::string& what);

// The run of this user that `what` means wherever it is. Errc::not_found where the index knows
// none that is still there; Errc::invalid where one is not ours alone.
[[nodiscard]] Result<RunDirectory> find_in_index(const std::string& what);

}  // namespace dts::run
