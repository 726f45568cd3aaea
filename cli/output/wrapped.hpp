// SPDX-License-Identifier: Apache-2.0
// Prose in lines. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace dts::cli {

// In lines of at most `width` columns, broken at blanks.
[[nodiscard]] std::vector<std::string> wrapped(const std::string& words, std::size_t width);

}  // namespace dts::cli
