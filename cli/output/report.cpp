// SPDX-License-Identifier: Apache-2.0
#include "cli/output/report.hpp"

#include "cli/output/terminal.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace dts::cli {

void report(const Error& error) {
  const bool in_colour = wants_colour(STDERR_FILENO);
  fmt::print(stderr,
             "dtsubmit: {}error:{} {}\n",
             in_colour ? "\033[1;31m" : "",
             in_colour ? "\033[0m" : "",
             error.message);
  if (!error.hint.empty()) fmt::print(stderr, "  help: {}\n", error.hint);
}

}  // namespace dts::cli
