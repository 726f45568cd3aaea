// SPDX-License-Identifier: Apache-2.0
// The children of this process's main thread, where a subreaper gets its orphans.
#pragma once

#include <sys/types.h>

#include <vector>

namespace dts {

[[nodiscard]] std::vector<pid_t> own_children();

// Sends `number` (0: nothing, as kill(2) says) to each child that is not in `spared`; true if there
// was one.
bool signal_children(int number, const std::vector<pid_t>& spared);

// Kills and buries every child but `spared`, and all that thereby become children.
void kill_children(const std::vector<pid_t>& spared);

}  // namespace dts
