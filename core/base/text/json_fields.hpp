// SPDX-License-Identifier: Apache-2.0
// Reads fields of untrusted JSON. All functions throw nlohmann::json::exception, which names the
// field, if it is not as required: json's own conversions turn -1 into 4294967295 and 3.7 into 3.
// Pure, thread-safe.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace dts {

[[noreturn]] void wrong_field(const char* name);

// A whole number from `least` to `most`, in two's complement.
[[nodiscard]] std::uint64_t whole_bits(const nlohmann::json& value,
                                       const char* name,
                                       std::int64_t least,
                                       std::uint64_t most);

// A whole number that fits into `Int` and is at most `most`.
template <class Int>
[[nodiscard]] Int whole(const nlohmann::json& value,
                        const char* name,
                        Int most = std::numeric_limits<Int>::max()) {
  constexpr auto k_least = static_cast<std::int64_t>(std::numeric_limits<Int>::min());
  return static_cast<Int>(whole_bits(value, name, k_least, static_cast<std::uint64_t>(most)));
}

// The same for a required field.
[[nodiscard]] unsigned count(const nlohmann::json& object,
                             const char* name,
                             unsigned most = std::numeric_limits<unsigned>::max());

// A list of numbers up to `most` in the kernel's notation, so that a node with 256 PUs takes nine
// bytes.
[[nodiscard]] std::vector<unsigned> numbers(const nlohmann::json& object,
                                            const char* name,
                                            unsigned most);

// Text of any bytes, as bytes_to_json() writes it.
[[nodiscard]] std::string bytes(const nlohmann::json& value, const char* name);

}  // namespace dts
