// SPDX-License-Identifier: Apache-2.0
// Locks that allow only one process at a time to change a file of a run.
#pragma once

#include "core/base/files/unique_fd.hpp"
#include "core/run/directory/run_directory.hpp"

#include <chrono>
#include <string>

namespace dts::run {

// Holds an exclusive lock (fcntl(2), open file description lock, which works over NFS) on the
// existing file `path` for the lifetime of the value. Waits at most `patience`. If the file is
// absent, or the file system has no locks or has lost its lock server, the value is not valid() and
// the caller continues without a lock: a hung job is worse than a race between two agents that
// should not both be alive.
[[nodiscard]] UniqueFd lock_file(const std::string& path,
                                 std::chrono::milliseconds patience = std::chrono::seconds(5));

// The lock that a command holds while it requests a job for the run from the scheduler: `dtsubmit
// submit`, `requeue`, or a search for a job whose submission was not answered. It is distinct from
// the ledger's lock, which is taken for each event.
[[nodiscard]] UniqueFd lock_submission(const RunDirectory& run, std::chrono::milliseconds patience);

// Locks PATH.lock, which it creates (0600), to protect a file that is replaced from time to time.
[[nodiscard]] UniqueFd lock_beside(const std::string& path);

}  // namespace dts::run
