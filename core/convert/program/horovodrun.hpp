// SPDX-License-Identifier: Apache-2.0
// The command line of horovodrun up to its program. Pure.
#pragma once

#include "core/convert/words/flat.hpp"
#include "core/lint/script/runs.hpp"

#include <string>
#include <vector>

namespace dts::convert {

struct HorovodrunWords {
  std::vector<lint::LaunchOption> options;
  std::vector<std::string> variables;  // "NAME=value": options that horovodrun hands on
  std::vector<std::string> losses;     // for people
  std::size_t command_at = 0;          // the first word of the program
};

// `at`: the place of horovodrun in `words`.
[[nodiscard]] HorovodrunWords horovodrun_words(const std::vector<FlatWord>& words,
                                               std::size_t at,
                                               const lint::Runs& runs);

}  // namespace dts::convert
