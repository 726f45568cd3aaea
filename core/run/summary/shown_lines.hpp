// SPDX-License-Identifier: Apache-2.0
// A program's output without the earlier states of its progress bars. Pure.
#pragma once

#include <string>
#include <vector>

namespace dts::run {

// The lines as a terminal shows them. A progress bar (tqdm, as in Lightning and transformers)
// writes all its states into one line, each after a carriage return: only the last one is kept, and
// what another part of the program wrote between them if it names an error. A traceback that begins
// behind a bar, which the bar does not end with a newline, begins a line of its own.
[[nodiscard]] std::vector<std::string> shown_lines(const std::vector<std::string>& lines);

}  // namespace dts::run
