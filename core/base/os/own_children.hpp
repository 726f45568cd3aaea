// SPDX-License-Identifier: Apache-2.0
// The children of this process's main thread, to which a subreaper's orphans are attached.
#pragma once

#include <sys/types.h>

#include <vector>

namespace dts {

// Without those in `spared`; includes children that have ended and are not reaped.
[[nodiscard]] std::vector<pid_t> own_children(const std::vector<pid_t>& spared = {});

// Reaps the children that have ended, except `spared`.
void reap_children(const std::vector<pid_t>& spared);

// Sends signal `number` (0: none, as in kill(2)) to each child that is not in `spared`; true if
// there was one.
bool signal_children(int number, const std::vector<pid_t>& spared);

// Kills and reaps every child except `spared`, and any process that thereby becomes a child.
void kill_children(const std::vector<pid_t>& spared);

}  // namespace dts
