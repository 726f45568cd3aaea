// SPDX-License-Identifier: Apache-2.0
// Blanks of templates. Pure, thread-safe.
#pragma once

#include <string_view>

namespace dts::lint {

// A value that a person is to fill in: <account>, {{ nodes }}, YOUR_NAME.
[[nodiscard]] bool is_placeholder(std::string_view value);

}  // namespace dts::lint
