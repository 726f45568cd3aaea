// SPDX-License-Identifier: Apache-2.0
// One process at a time changes a file of a run.
#pragma once

#include "core/base/files/unique_fd.hpp"
#include "core/run/directory/run_directory.hpp"

#include <chrono>
#include <string>

namespace dts::run {

// Holds an exclusive lock (fcntl(2), open file description lock; it works over NFS) on the existing
// file `path` while the value lives. Waits for `patience` at most: where the file is absent, the
// file system has no locks or its lock server is gone, the value is not valid() and the caller goes
// on without, because a job that hangs is worse than a race between two agents that should not both
// live.
[[nodiscard]] UniqueFd lock_file(const std::string& path,
                                 std::chrono::milliseconds patience = std::chrono::seconds(5));

// The same for as long as somebody asks the scheduler for a job of the run: `dtsubmit submit`,
// `requeue`, or a command that looks for a job whose submission was not answered. Another file than
// the ledger, which every event locks for itself.
[[nodiscard]] UniqueFd lock_submission(const RunDirectory& run, std::chrono::milliseconds patience);

// The same on PATH.lock, which it makes (0600): for a file that is replaced now and then.
[[nodiscard]] UniqueFd lock_beside(const std::string& path);

}  // namespace dts::run
