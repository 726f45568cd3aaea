// SPDX-License-Identifier: Apache-2.0
// The file of --config: a JSON object with options by name. Pure; safe for any text.
#pragma once

#include "core/base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dts::train {

// An option in the form of the command line: "--steps", "100".
struct OptionWords {
  std::string name;
  std::string value;
};

// Parses {"steps": 100, "model": "gpt2:char-mini"}: a member for each option, named without dashes,
// whose value is a string or a number. Errc::usage names all problems, with their places in `file`.
[[nodiscard]] Result<std::vector<OptionWords>> parse_config_file(std::string_view text,
                                                                 const std::string& file);

}  // namespace dts::train
