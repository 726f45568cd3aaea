// SPDX-License-Identifier: Apache-2.0
#include "cli/output/report.hpp"

#include "cli/output/terminal.hpp"
#include "core/base/log.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace dts::cli {

void report(const Error& error) {
  const bool in_colour = wants_colour(STDERR_FILENO);
  tell("dtsubmit: {}error:{} {}\n",
       in_colour ? "\033[1;31m" : "",
       in_colour ? "\033[0m" : "",
       error.message);
  if (!error.hint.empty()) tell("  help: {}\n", error.hint);
}

void warn(const std::string& words) {
  if (!words.empty()) tell("dtsubmit: warning: {}\n", words);
}

}  // namespace dts::cli
