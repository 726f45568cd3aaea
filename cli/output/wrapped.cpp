// SPDX-License-Identifier: Apache-2.0
#include "cli/output/wrapped.hpp"

#include "core/base/text/text.hpp"

namespace dts::cli {

std::vector<std::string> wrapped(const std::string& words, std::size_t width) {
  std::vector<std::string> lines{""};
  for (const std::string& word : split(words, ' ')) {
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width)
      lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
  }
  return lines;
}

}  // namespace dts::cli
