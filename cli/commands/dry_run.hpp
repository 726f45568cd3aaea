// SPDX-License-Identifier: Apache-2.0
// Prints a prepared job for --dry-run, and its size.
#pragma once

#include "cli/commands/prepare.hpp"

#include <string>

namespace dts::cli {

// The plan with the reason for each number, preceded by the plans of its parts, and the batch
// script; or one JSON document of schema dtsubmit/dry-run/1.
void print_dry_run(const Prepared& prepared, bool json);

// "16 ranks, 16 GPUs (a100), 128 cores; 16384 MiB of memory a node"
[[nodiscard]] std::string sums_of(const Prepared& prepared);

// "2 nodes x 8 ranks", "2 nodes, 3 steps"
[[nodiscard]] std::string size_in_words(const Prepared& prepared);

}  // namespace dts::cli
