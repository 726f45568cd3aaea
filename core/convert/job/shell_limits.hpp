// SPDX-License-Identifier: Apache-2.0
// What a line with ulimit asks for. Pure.
#pragma once

#include "core/lint/script/values.hpp"

#include <string>
#include <vector>

namespace dts::convert {

// Values of --ulimit: "nofile=4096". Empty: only the script's shell knows them. `words`: the
// command's, from "ulimit" on.
[[nodiscard]] std::vector<std::string> shell_limits(const std::vector<lint::ExpandedWord>& words);

}  // namespace dts::convert
