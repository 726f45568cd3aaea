// SPDX-License-Identifier: Apache-2.0
// A script, statement by statement, as a job file. Pure, thread-safe.
#pragma once

#include "core/convert/convert.hpp"

#include <string_view>

namespace dts::convert {

// As convert_script(), which writes the script's control flow out before.
[[nodiscard]] Conversion convert_statements(std::string_view text, const Options& options);

}  // namespace dts::convert
