// SPDX-License-Identifier: Apache-2.0
// What every fuzz target needs: its entry point and a check that stays in release builds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

// The target's body gets the input as `input`, a std::string_view that is not terminated.
#define DTS_FUZZ_TARGET(input)                                                    \
  static void fuzz_one(std::string_view input);                                   \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t n); \
  int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t n) {           \
    fuzz_one({reinterpret_cast<const char*>(data), n});                           \
    return 0;                                                                     \
  }                                                                               \
  static void fuzz_one(std::string_view input)

namespace dts::tests {

inline void must(bool holds) {
  if (!holds) std::abort();
}

}  // namespace dts::tests
