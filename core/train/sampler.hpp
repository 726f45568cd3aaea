// SPDX-License-Identifier: Apache-2.0
// Which sample is the i-th of an epoch: a pure function, so that no generator state needs saving.
#pragma once

#include <cstdint>

namespace dts::train {

// A bijection of 64-bit words that looks random (the finaliser of SplitMix64, Steele et al. 2014,
// doi 10.1145/2660193.2660195).
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

// The `index`-th element, 0 <= index < count, of epoch `epoch`'s permutation of [0, count): a
// Feistel network on the next even power of two, walked along its cycle until it lands below
// `count` (Black and Rogaway 2002, "Ciphers with arbitrary finite domains"). count must be at
// least 1.
[[nodiscard]] std::uint64_t sample_index(std::uint64_t seed,
                                         std::uint64_t epoch,
                                         std::uint64_t index,
                                         std::uint64_t count);

}  // namespace dts::train
