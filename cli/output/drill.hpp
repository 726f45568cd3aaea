// SPDX-License-Identifier: Apache-2.0
// The report of fire drills, for users and as JSON. Pure.
#pragma once

#include "core/drill/drill.hpp"

#include <string>
#include <vector>

namespace dts::cli {

// "ok", "FAILED" or "skipped".
[[nodiscard]] const char* outcome_word(const drill::Report& report);

// One drill, with one line per known fact.
[[nodiscard]] std::string to_text(const drill::Report& report);

// Several drills, one line each, followed by their failures.
[[nodiscard]] std::string to_table(const std::vector<drill::Report>& reports);

// Schema dtsubmit/drill/1.
[[nodiscard]] std::string to_json(const std::vector<drill::Report>& reports);

}  // namespace dts::cli
