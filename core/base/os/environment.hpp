// SPDX-License-Identifier: Apache-2.0
// Environment variables, looked up in a way that tests can replace.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts {

// The value of a variable; nullopt if it is not set.
using Lookup = std::function<std::optional<std::string>(const char* name)>;

// A Lookup in the process's own environment.
[[nodiscard]] std::optional<std::string> getenv_lookup(const char* name);

// The process's variables as NAME=VALUE entries, see environ(7).
[[nodiscard]] std::vector<std::string> environment_entries();

// The NAME of such an entry; the whole entry if it has no "=".
[[nodiscard]] std::string_view variable_name(std::string_view entry);

}  // namespace dts
