// SPDX-License-Identifier: Apache-2.0
// The final message of a command that followed a run to its end.
#pragma once

#include "cli/commands/selection.hpp"
#include "core/run/directory/run_directory.hpp"

namespace dts::cli {

// Prints to standard error why the run ended, the last lines of the rank at fault, and the command
// to type next; a single line if the run is done. The short form of `dtsubmit why`.
void print_ending(const run::RunDirectory& run, const Selection& selection);

}  // namespace dts::cli
