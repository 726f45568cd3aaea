// SPDX-License-Identifier: Apache-2.0
// runs.jsonl in the user's state folder records where this user's runs are, so that they can be
// found from any folder. It is only a convenience: its entries are checked before use, and runs do
// not depend on it.
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

// One line of the file: a run, or a further job of a run.
struct Indexed {
  std::string folder;   // the run directory, absolute
  JobId job{};          // the scheduler's id; empty: none
  std::string cluster;  // this_cluster() at submission
};

[[nodiscard]] std::string to_line(const Indexed& entry);

// All valid lines, oldest first. Other lines (torn by a crash, or of a later release) are skipped.
// Pure.
[[nodiscard]] std::vector<Indexed> parse_index(std::string_view text);

// The folders of `entries` that `what` (a job id, a run's name or "last") can refer to, the best
// match first: for "last" the newest, otherwise the newest with that name, or with that job on
// `cluster`. No duplicates. Pure.
[[nodiscard]] std::vector<std::string> matches(const std::vector<Indexed>& entries,
                                               const std::string& what,
                                               const std::string& cluster);

// The user's index; empty if there is none. Errors: a file that is not exclusively ours.
[[nodiscard]] Result<std::vector<Indexed>> read_index();

// A sentence about damaged lines of that file, which were skipped; empty if there are none.
[[nodiscard]] std::string index_damage();

// Adds a line to the file (mode 0600, in a folder of mode 0700). Safe for many processes on many
// machines at once. Drops the oldest lines once the file has 1 MiB. Errors, which deserve only a
// warning: the home directory cannot be written to.
[[nodiscard]] Result<void> add_to_index(const Indexed& entry);

// SLURM_CONF of this process, otherwise SLURM_CONF_SERVER.
[[nodiscard]] std::string this_cluster();

// Adds a further job of a run that is in the index, with the cluster of its previous job.
[[nodiscard]] Result<void> add_job_to_index(const RunDirectory& run, const JobId& job);

// The latest entry that `what` (a folder, a job id or a name) refers to and whose folder no longer
// exists. Empty if there is no such entry.
[[nodiscard]] std::optional<Indexed> gone_from_index(const std::string& what);

// Finds the user's run that `what` refers to, wherever it is. Errc::not_found if the index has none
// that still exists; Errc::invalid if that run is not exclusively ours.
[[nodiscard]] Result<RunDirectory> find_in_index(const std::string& what);

}  // namespace dts::run
