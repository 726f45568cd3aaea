// SPDX-License-Identifier: Apache-2.0
#include "core/plan/program/own_runtimes.hpp"

#include "core/base/text/text.hpp"
#include "core/plan/program/inner_program.hpp"
#include "core/plan/program/known_launchers.hpp"

#include <algorithm>

namespace dts::plan {

std::vector<std::string> own_runtimes(std::string_view text) {
  constexpr std::string_view k_ends = " \t\r\n;&|()`'\"<>={}";  // of a word of a shell
  std::vector<std::string> found;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find_first_of(k_ends));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    const std::string name(file_name_of(word));
    if (is_container_runtime(name) && !is_one_of(found, name)) found.push_back(name);
  }
  return found;
}

}  // namespace dts::plan
