// SPDX-License-Identifier: Apache-2.0
#include "cli/output/terminal.hpp"

#include "core/base/text/text.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

namespace dts::cli {
namespace {

// An empty variable counts as unset.
std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

bool wants_colour(int descriptor) {
  const std::string type = variable("TERM");
  return ::isatty(descriptor) == 1 && variable("NO_COLOR").empty() && !type.empty() &&
         type != "dumb";
}

unsigned terminal_columns() {
  auto columns = parse_number(variable("COLUMNS"));
  winsize size{};
  if (!columns && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    columns = size.ws_col;
  return static_cast<unsigned>(std::clamp<std::uint64_t>(columns.value_or(80), 40, 240));
}

bool has_utf8() {
  std::string locale;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (locale.empty()) locale = variable(name);
  locale = in_lower_case(locale);
  return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
}

}  // namespace dts::cli
