// SPDX-License-Identifier: Apache-2.0
// `dtsubmit node`: starts the ranks of one of the --hosts and runs as long as they do. sshd starts
// it; its standard input carries the order (see node_order.hpp) and then nothing: end of file means
// that the connection is gone. On standard output it prints k_node_up or k_node_failed.
#pragma once

#include "core/base/result.hpp"

#include <string_view>

namespace dts::launch {

// "dtsubmit-node up MACHINE": the ranks start. MACHINE is equal only on the same machine.
inline constexpr std::string_view k_node_up = "dtsubmit-node up ";
// "dtsubmit-node failed WHY": they cannot.
inline constexpr std::string_view k_node_failed = "dtsubmit-node failed ";

// Blocks until every rank process has ended; afterwards this machine has no process of the run.
// Returns the first exit code of a rank process that is not 0, otherwise 0.
[[nodiscard]] Result<int> run_node();

}  // namespace dts::launch
