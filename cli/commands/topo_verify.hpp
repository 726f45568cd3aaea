// SPDX-License-Identifier: Apache-2.0
// dtsubmit topo --verify: checks whether a job's ranks are bound as planned.
#pragma once

#include "cli/commands/selection.hpp"

namespace dts::cli {

// Prints a line for each group of ranks, or the report as JSON. Exit code 0: all as planned, 1:
// not.
[[nodiscard]] Result<int> verify(const Selection& selection, bool json);

}  // namespace dts::cli
