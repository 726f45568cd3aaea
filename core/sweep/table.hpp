// SPDX-License-Identifier: Apache-2.0
// Reads a CSV file as the elements of a sweep: the first line names the parameters, each further
// line is an element. Pure, thread-safe.
#pragma once

#include "core/base/diagnostics.hpp"
#include "core/sweep/combine.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dts::sweep {

// `file` appears in messages with line and column. Reports at most the first twenty problems.
[[nodiscard]] Rows parse_table(std::string_view text,
                               const std::string& file,
                               std::vector<std::string>& names,
                               Diagnostics& problems);

}  // namespace dts::sweep
