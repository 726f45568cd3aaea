// SPDX-License-Identifier: Apache-2.0
// Blanks in templates that a shell would read as redirections: CACHE=<cache folder>. Pure.
#pragma once

#include "core/convert/expand/rewrite.hpp"

#include <string_view>

namespace dts::convert {

// The text with such blanks in quotes, so that each is part of its word.
[[nodiscard]] Rewrite with_quoted_blanks(std::string_view text);

}  // namespace dts::convert
