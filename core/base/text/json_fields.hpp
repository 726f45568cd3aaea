// SPDX-License-Identifier: Apache-2.0
// Fields of JSON that came from elsewhere. All throw nlohmann::json::exception, naming the field,
// where it is not what it should be: json's own conversions make 4294967295 of -1 and 3 of 3.7.
// Pure, thread-safe.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <limits>
#include <vector>

namespace dts {

[[noreturn]] void wrong_field(const char* name);

// A whole number from `least` to `most`, in two's complement.
[[nodiscard]] std::uint64_t whole_bits(const nlohmann::json& value,
                                       const char* name,
                                       std::int64_t least,
                                       std::uint64_t most);

// A whole number that fits `Int`, at most `most`.
template <class Int>
[[nodiscard]] Int whole(const nlohmann::json& value,
                        const char* name,
                        Int most = std::numeric_limits<Int>::max()) {
  constexpr auto k_least = static_cast<std::int64_t>(std::numeric_limits<Int>::min());
  return static_cast<Int>(whole_bits(value, name, k_least, static_cast<std::uint64_t>(most)));
}

// The same of a field that has to be there.
[[nodiscard]] unsigned count(const nlohmann::json& object,
                             const char* name,
                             unsigned most = std::numeric_limits<unsigned>::max());

// A list as the kernel writes them, none above `most`: a node of 256 PUs in nine bytes.
[[nodiscard]] std::vector<unsigned> numbers(const nlohmann::json& object,
                                            const char* name,
                                            unsigned most);

}  // namespace dts
