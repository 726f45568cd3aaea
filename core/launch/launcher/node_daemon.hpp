// SPDX-License-Identifier: Apache-2.0
// `dtsubmit node`: starts the ranks of one of the --hosts and stays as long as they run. sshd
// started it; its standard input carries the order (see node_order.hpp) and then nothing: its end
// means that the connection is gone. On standard output it says k_node_up or k_node_failed.
#pragma once

#include "core/base/result.hpp"

#include <string_view>

namespace dts::launch {

// "dtsubmit-node up MACHINE": the ranks start. MACHINE is the same text on the same machine only.
inline constexpr std::string_view k_node_up = "dtsubmit-node up ";
// "dtsubmit-node failed WHY": they cannot.
inline constexpr std::string_view k_node_failed = "dtsubmit-node failed ";

// Blocks until every rank process has ended; afterwards none of this run is on this machine. The
// value is the first exit code of a rank process that is not 0.
[[nodiscard]] Result<int> run_node();

}  // namespace dts::launch
