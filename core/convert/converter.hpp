// SPDX-License-Identifier: Apache-2.0
// Converts a script to a job file, statement by statement. Pure, thread-safe.
#pragma once

#include "core/convert/convert.hpp"

#include <string_view>

namespace dts::convert {

// Like convert_script(), which first writes out the script's control flow.
[[nodiscard]] Conversion convert_statements(std::string_view text, const Options& options);

}  // namespace dts::convert
