// SPDX-License-Identifier: Apache-2.0
// The kernel's automatic task groups (sched(7), "The autogroup feature"), which make the simulated
// nodes of one machine compete: every step is a session of its own, and so a group of its own. On
// Linux 6.18 the group of one node was measured to get no core for more than 20 s while the ranks
// of the other polled; without autogroups that was never seen (0 of 18 against 1 of 4).
#pragma once

#include <string>

namespace dts::cluster {

// Where we may (root) and they are on, switches them off and notes that in `folder`.
void switch_autogroups_off(const std::string& folder);

// Switches them on again if `folder` says that they were.
void restore_autogroups(const std::string& folder);

}  // namespace dts::cluster
