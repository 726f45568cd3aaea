// SPDX-License-Identifier: Apache-2.0
// Reads values of spec.json. Errc::invalid says what was expected and leaves `into` unspecified.
// Pure, thread-safe.
#pragma once

#include "core/base/result.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace dts::spec {

constexpr unsigned k_most = 65'535;  // fits Slurm's 16-bit counts

[[nodiscard]] Result<std::uint64_t> whole_number(const nlohmann::json& value, std::uint64_t most);

template <class T>
Result<void> read_number(const nlohmann::json& value, T& into) {
  constexpr auto k_largest = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
  DTS_ASSIGN(const std::uint64_t number, whole_number(value, k_largest));
  into = static_cast<T>(number);
  return {};
}

[[nodiscard]] Result<void> read_text(const nlohmann::json& value, std::string& into);
[[nodiscard]] Result<void> read_flag(const nlohmann::json& value, bool& into);
[[nodiscard]] Result<void> read_texts(const nlohmann::json& value,
                                      const char* example,
                                      std::vector<std::string>& into);

}  // namespace dts::spec
