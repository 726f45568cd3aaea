// SPDX-License-Identifier: Apache-2.0
// Which variables an arithmetic expression of bash(1) sets. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dts::shell {

// The names before =, += and the like, and before or after ++ and --, in the order of the text.
[[nodiscard]] std::vector<std::string> names_set_by(std::string_view expression);

}  // namespace dts::shell
