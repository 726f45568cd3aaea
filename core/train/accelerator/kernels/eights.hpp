// SPDX-License-Identifier: Apache-2.0
// Eight neighbours of an array at once, rounded to bf16, as threads fetch them from factors for
// tensor cores.
#pragma once

#include "core/train/accelerator/kernels/fours.hpp"

namespace dts::train::accelerator {

struct alignas(16) Eight {
  static constexpr int k_count = 8;
  static constexpr int k_pairs = k_count / 2;

  std::uint32_t pairs[k_pairs];
};

// Whether rows from `first` on can be read in eights, which must be at multiples of 16 bytes.
template <class Value>
[[nodiscard]] DTS_BLOCK_CODE bool allows_eights(const Value* first, std::int64_t pitch) {
  return pitch % Eight::k_count == 0 &&
         reinterpret_cast<std::uintptr_t>(first) % sizeof(Eight) == 0;
}

// Reads eight values, which are rounded already.
[[nodiscard]] DTS_BLOCK_CODE inline Eight read_eight(const Bfloat* at) {
#if defined(__CUDA_ARCH__)
  return *reinterpret_cast<const Eight*>(at);
#else
  Eight eight;
  memcpy(&eight, at, sizeof eight);
  return eight;
#endif
}

[[nodiscard]] DTS_BLOCK_CODE inline Eight read_eight(const float* at) {
  const Four first = read_four(at, Four::k_count);
  const Four second = read_four(at + Four::k_count, Four::k_count);
  return {{rounded_pair(first.values[0], first.values[1]),
           rounded_pair(first.values[2], first.values[3]),
           rounded_pair(second.values[0], second.values[1]),
           rounded_pair(second.values[2], second.values[3])}};
}

}  // namespace dts::train::accelerator
