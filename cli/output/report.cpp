// SPDX-License-Identifier: Apache-2.0
#include "cli/output/report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace dts::cli {
namespace {

bool colour() {
  const char* off = std::getenv("NO_COLOR");
  return ::isatty(STDERR_FILENO) == 1 && (off == nullptr || *off == '\0');
}

}  // namespace

void report(const Error& error) {
  const bool in_colour = colour();
  fmt::print(stderr,
             "dtsubmit: {}error:{} {}\n",
             in_colour ? "\033[1;31m" : "",
             in_colour ? "\033[0m" : "",
             error.message);
  if (!error.hint.empty()) fmt::print(stderr, "  help: {}\n", error.hint);
}

}  // namespace dts::cli
