// SPDX-License-Identifier: Apache-2.0
// Switches the kernel's automatic task groups (sched(7), "The autogroup feature") off and on. They
// make the simulated nodes of one machine compete, because every step is a session, and thus a
// group, of its own. On Linux 6.18 we measured that the group of one node got no core for more than
// 20 s while the ranks of the other polled. Without autogroups this was never seen (0 of 18 against
// 1 of 4).
#pragma once

#include <string>

namespace dts::cluster {

// If autogroups are on and we are allowed to (as root), switches them off and records that in
// `folder`.
void switch_autogroups_off(const std::string& folder);

// Switches them on again if `folder` says that they were on.
void restore_autogroups(const std::string& folder);

}  // namespace dts::cluster
