// SPDX-License-Identifier: Apache-2.0
// Arguments, paths and environment variables are bytes, but JSON is UTF-8. Text that is not UTF-8
// is written as {"hex": "..."}, two lower-case digits per byte, both in our files (dtsubmit-run(5))
// and in requests to plug-ins (dtsubmit-plugins(7)). Pure, thread-safe.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

namespace dts {

[[nodiscard]] nlohmann::json bytes_to_json(const std::string& bytes);
[[nodiscard]] nlohmann::json bytes_to_json(const std::vector<std::string>& list);

// nullopt for anything but a string or such an object, and for a NUL, which no argument can
// contain.
[[nodiscard]] std::optional<std::string> bytes_from_json(const nlohmann::json& value);

}  // namespace dts
