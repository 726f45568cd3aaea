// SPDX-License-Identifier: Apache-2.0
// Placeholders in templates. Pure, thread-safe.
#pragma once

#include <string_view>

namespace dts::lint {

// True for a value that a user has to fill in: <account>, {{ nodes }}, [JOB NAME], YOUR_NAME.
[[nodiscard]] bool is_placeholder(std::string_view value);

}  // namespace dts::lint
