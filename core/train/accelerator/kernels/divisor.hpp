// SPDX-License-Identifier: Apache-2.0
// Division by a number that is constant in a kernel, by a multiplication and a shift, because
// devices have no instruction for it (T. Granlund and P. L. Montgomery, "Division by Invariant
// Integers using Multiplication", 1994, theorem 4.2).
#pragma once

#include "core/train/accelerator/kernels/block.hpp"

#include <bit>

namespace dts::train::accelerator {

struct Divisor {
  int value = 1;
  int shift = k_bits;
  std::uint32_t multiplier = 1U << k_bits;

  Divisor() = default;

  // `divisor` must be positive.
  explicit Divisor(int divisor)
      : value(divisor),
        shift(k_bits + std::bit_width(static_cast<std::uint32_t>(divisor) - 1)),
        multiplier(static_cast<std::uint32_t>((std::uint64_t{1} << shift) /
                                              static_cast<std::uint32_t>(divisor)) +
                   1) {}

  // `dividend` must not be negative.
  [[nodiscard]] DTS_BLOCK_CODE int quotient(int dividend) const {
    return static_cast<int>(std::uint64_t{static_cast<std::uint32_t>(dividend)} * multiplier >>
                            shift);
  }

 private:
  static constexpr int k_bits = 31;  // of a dividend
};

}  // namespace dts::train::accelerator
