// SPDX-License-Identifier: Apache-2.0
// One process at a time changes a file of a run.
#pragma once

#include "core/base/unique_fd.hpp"

#include <string>

namespace dts::run {

// Holds an exclusive lock (fcntl(2), open file description lock; it works over NFS) on the existing
// file `path` while the value lives. Waits 5 s at most: where the file is absent, the file system
// has no locks or its lock server is gone, the value is not valid() and the caller goes on without,
// because a job that hangs is worse than a race between two agents that should not both live.
[[nodiscard]] UniqueFd lock_file(const std::string& path);

// The same on PATH.lock, which it makes (0600): for a file that is replaced now and then.
[[nodiscard]] UniqueFd lock_beside(const std::string& path);

}  // namespace dts::run
