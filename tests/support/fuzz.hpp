// SPDX-License-Identifier: Apache-2.0
// Shared by all fuzz targets: the entry point, and a check that works in release builds, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

// The body of a target gets the input as `input`, a std::string_view without a terminating zero.
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
