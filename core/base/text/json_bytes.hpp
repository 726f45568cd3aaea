// SPDX-License-Identifier: Apache-2.0
// Arguments, paths and environment variables are bytes, JSON is UTF-8. A text that is not UTF-8 is
// written as {"hex": "..."}, two lower-case digits a byte, in our files (dtsubmit-run(5)) as well
// as in what is sent to plug-ins (dtsubmit-plugins(7)). Pure, thread-safe.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

namespace dts {

[[nodiscard]] nlohmann::json bytes_to_json(const std::string& bytes);
[[nodiscard]] nlohmann::json bytes_to_json(const std::vector<std::string>& list);

// nullopt for what is neither a string nor such an object, and for a NUL, which no argument holds.
[[nodiscard]] std::optional<std::string> bytes_from_json(const nlohmann::json& value);

}  // namespace dts
