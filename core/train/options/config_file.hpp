// SPDX-License-Identifier: Apache-2.0
// The file of --config: options by their names, as JSON. Pure; safe for any text.
#pragma once

#include "core/base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dts::train {

// An option as the command line has it: "--steps", "100".
struct OptionWords {
  std::string name;
  std::string value;
};

// Of {"steps": 100, "model": "gpt2:char-mini"}: a member for each option, without its dashes; a
// string or a number. Errc::usage names all that is wrong, with the place in `file`.
[[nodiscard]] Result<std::vector<OptionWords>> parse_config_file(std::string_view text,
                                                                 const std::string& file);

}  // namespace dts::train
