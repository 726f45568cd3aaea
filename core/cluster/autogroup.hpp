// SPDX-License-Identifier: Apache-2.0
// The kernel's automatic task groups (sched(7), "The autogroup feature"). They make the simulated
// nodes of one machine compete, since every step is its own session and thus its own group. On
// Linux 6.18 the group of one node was measured to get no core for more than 20 s while the ranks
// of the other polled; without autogroups this was never seen (0 of 18 against 1 of 4).
#pragma once

#include <string>

namespace dts::cluster {

// If autogroups are on and we may (as root), switches them off and notes that in `folder`.
void switch_autogroups_off(const std::string& folder);

// Switches them on again if `folder` says they were on.
void restore_autogroups(const std::string& folder);

}  // namespace dts::cluster
