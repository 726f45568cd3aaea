// SPDX-License-Identifier: Apache-2.0
// Names of environment variables. Pure, thread-safe.
#pragma once

#include <algorithm>
#include <string_view>

namespace dts {

// True for ^[A-Za-z_][A-Za-z0-9_]*$ in any locale (POSIX.1-2017, XBD 3.235).
[[nodiscard]] inline bool is_variable_name(std::string_view name) {
  const auto begins = [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  return !name.empty() && begins(name[0]) && std::all_of(name.begin(), name.end(), [&](char c) {
    return begins(c) || (c >= '0' && c <= '9');
  });
}

}  // namespace dts
