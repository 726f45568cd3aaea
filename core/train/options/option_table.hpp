// SPDX-License-Identifier: Apache-2.0
// The options of dttrain, one row each. Pure, thread-safe.
#pragma once

#include "core/train/options/options.hpp"

#include <span>
#include <string>

namespace dts::train {

struct Option {
  const char* name;
  const char* value;  // the kind of value, for --help
  const char* help;
  bool (*set)(Options&, const std::string&);  // false: invalid value
};

// The rows in the order of --help.
[[nodiscard]] std::span<const Option> option_table();

}  // namespace dts::train
