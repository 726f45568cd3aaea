// SPDX-License-Identifier: Apache-2.0
// A CSV file as the elements of a sweep: its first line names the parameters, each further one is
// an element. Pure, thread-safe.
#pragma once

#include "core/base/diagnostics.hpp"
#include "core/sweep/combine.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dts::sweep {

// `file` is for messages, which have its line and column. At most the first twenty problems.
[[nodiscard]] Rows parse_table(std::string_view text,
                               const std::string& file,
                               std::vector<std::string>& names,
                               Diagnostics& problems);

}  // namespace dts::sweep
