// SPDX-License-Identifier: Apache-2.0
#include "cli/output/report.hpp"

#include "cli/output/terminal.hpp"
#include "core/base/os/log.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/utf8.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace dts::cli {

namespace {

// May contain text from the scheduler, a file or a program; several problems are on separate lines.
std::string shown(const std::string& message) {
  constexpr std::size_t k_longest = 2000;
  std::vector<std::string> lines = split(message, '\n');
  for (std::string& line : lines) line = printable(line, k_longest);
  return join(lines, "\n");
}

}  // namespace

void report(const Error& error) {
  const bool in_colour = wants_colour(STDERR_FILENO);
  tell("dtsubmit: {}error:{} {}\n",
       in_colour ? "\033[1;31m" : "",
       in_colour ? "\033[0m" : "",
       shown(error.message));
  if (!error.hint.empty()) tell("  help: {}\n", shown(error.hint));
}

void warn(const std::string& words) {
  if (!words.empty()) tell("dtsubmit: warning: {}\n", shown(words));
}

}  // namespace dts::cli
