// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/counts.hpp"

#include "core/base/text/text.hpp"

#include <fmt/format.h>

namespace dts::cli {

std::uint64_t read_count(const char* option,
                         const std::string& text,
                         std::uint64_t least,
                         std::uint64_t most,
                         Diagnostics& problems) {
  const auto number = parse_number(text);
  if (number && *number >= least && *number <= most) return *number;
  problems.push_back(
      {option, fmt::format("`{}` is not a whole number from {} to {}", text, least, most)});
  return least;
}

}  // namespace dts::cli
