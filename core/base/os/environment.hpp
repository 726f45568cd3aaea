// SPDX-License-Identifier: Apache-2.0
// Environment variables, looked up in a way that tests can replace.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace dts {

// The value of a variable; nullopt if it is not set.
using Lookup = std::function<std::optional<std::string>(const char* name)>;

// A Lookup in the process's own environment.
[[nodiscard]] std::optional<std::string> getenv_lookup(const char* name);

}  // namespace dts
