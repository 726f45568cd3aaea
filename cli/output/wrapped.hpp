// SPDX-License-Identifier: Apache-2.0
// Breaks prose into lines. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace dts::cli {

// The lines of `words`, at most `width` columns wide, broken at blanks.
[[nodiscard]] std::vector<std::string> wrapped(const std::string& words, std::size_t width);

}  // namespace dts::cli
