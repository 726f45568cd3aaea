// SPDX-License-Identifier: Apache-2.0
// XXH3 64-bit (xxhash.com), for integrity, not for security. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace dts {

[[nodiscard]] std::uint64_t hash64(const void* data, std::size_t bytes, std::uint64_t seed = 0);

[[nodiscard]] inline std::uint64_t hash64(std::string_view text) {
  return hash64(text.data(), text.size());
}

// Computes the hash64() of bytes that arrive in pieces. Movable; not thread-safe.
class Hash64 {
 public:
  Hash64();
  void add(const void* data, std::size_t bytes);
  [[nodiscard]] std::uint64_t value() const;  // of all bytes so far

 private:
  struct State;  // keeps xxhash.h out of this header

  struct Free {
    void operator()(State* state) const;
  };

  std::unique_ptr<State, Free> state_;
};

// 16 lower-case hexadecimal digits.
[[nodiscard]] std::string to_hex(std::uint64_t value);

// `bytes` bytes of getrandom(2) as lower-case hexadecimal; for tokens and names.
[[nodiscard]] std::string random_hex(std::size_t bytes);

}  // namespace dts
