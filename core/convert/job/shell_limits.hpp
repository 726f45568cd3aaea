// SPDX-License-Identifier: Apache-2.0
// What a line with ulimit asks for. Pure.
#pragma once

#include "core/lint/script/values.hpp"

#include <string>
#include <vector>

namespace dts::convert {

struct ShellLimits {
  std::vector<std::string> values;  // of --ulimit: "nofile=4096"; empty: the line only prints
  std::string loss;                 // why there are none; empty: nothing is lost
};

// `words`: the command's, from "ulimit" on.
[[nodiscard]] ShellLimits shell_limits(const std::vector<lint::ExpandedWord>& words);

}  // namespace dts::convert
