// SPDX-License-Identifier: Apache-2.0
// `dtsubmit node`: starts the ranks of one of the --hosts and runs as long as they do. sshd starts
// it. Its standard input carries the order (see node_order.hpp) and nothing more: end of file means
// that the connection is lost. It prints k_node_up or k_node_failed to standard output.
#pragma once

#include "core/base/result.hpp"

#include <string_view>

namespace dts::launch {

// "dtsubmit-node up MACHINE": the ranks are being started. MACHINE identifies the machine.
inline constexpr std::string_view k_node_up = "dtsubmit-node up ";
// "dtsubmit-node failed WHY": the ranks cannot be started.
inline constexpr std::string_view k_node_failed = "dtsubmit-node failed ";

// Blocks until every rank process has ended; then no process of the run is left on this machine.
// Returns the first exit code of a rank process that is not 0, otherwise 0.
[[nodiscard]] Result<int> run_node();

}  // namespace dts::launch
