// SPDX-License-Identifier: Apache-2.0
// Converts an enumeration's values to names and back, by one table. Pure, thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

namespace dts {

template <class Value, std::size_t count>
using Names = std::array<std::pair<Value, const char*>, count>;

// "unknown" for a value that is not in the table.
template <class Value, std::size_t count>
[[nodiscard]] constexpr const char* name_of(const Names<Value, count>& names, Value value) {
  for (const auto& [candidate, name] : names)
    if (candidate == value) return name;
  return "unknown";
}

// nullopt for a word that is not in the table; case-sensitive.
template <class Value, std::size_t count>
[[nodiscard]] constexpr std::optional<Value> value_of(const Names<Value, count>& names,
                                                      std::string_view name) {
  for (const auto& [value, candidate] : names)
    if (name == candidate) return value;
  return std::nullopt;
}

}  // namespace dts
