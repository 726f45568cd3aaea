// SPDX-License-Identifier: Apache-2.0
// A program's output without the earlier states of its progress bars. Pure.
#pragma once

#include <string>
#include <vector>

namespace dts::run {

// A progress bar writes all its states into one line, each after a carriage return: only the last
// one that is not blank is kept, and earlier ones that name an error. What the program writes
// behind a bar, which the bar does not end with a newline, is a line of its own.
[[nodiscard]] std::vector<std::string> shown_lines(const std::vector<std::string>& lines);

}  // namespace dts::run
