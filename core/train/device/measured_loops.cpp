// SPDX-License-Identifier: Apache-2.0
#include "core/train/device/measured_loops.hpp"

namespace dts::train {

std::uint64_t add_chain(std::uint64_t count) {
  std::uint64_t x = 1;
  std::uint64_t y = 3;
  for (std::uint64_t i = 0; i < count; i += 64) {
#pragma GCC unroll 64
    for (int j = 0; j < 64; ++j) {
      // Hides both values from the compiler, so that it cannot fold the additions.
      asm volatile("" : "+r"(x), "+r"(y));
      x += y;
    }
  }
  return x;
}

void triad(double* __restrict a,
           const double* __restrict b,
           const double* __restrict c,
           double s,
           std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) a[i] = b[i] + s * c[i];
}

}  // namespace dts::train
