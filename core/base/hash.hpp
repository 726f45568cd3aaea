// SPDX-License-Identifier: Apache-2.0
// XXH3 64-bit (xxhash.com), for integrity, not for security. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace dts {

[[nodiscard]] std::uint64_t hash64(const void* data, std::size_t bytes, std::uint64_t seed = 0);

[[nodiscard]] inline std::uint64_t hash64(std::string_view text) {
  return hash64(text.data(), text.size());
}

// 16 lower-case hexadecimal digits.
[[nodiscard]] std::string to_hex(std::uint64_t value);

// `bytes` bytes of getrandom(2) as lower-case hexadecimal; for tokens and names.
[[nodiscard]] std::string random_hex(std::size_t bytes);

}  // namespace dts
