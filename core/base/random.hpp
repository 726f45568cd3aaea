// SPDX-License-Identifier: Apache-2.0
// Random numbers that are pure functions of a key and a counter: the same on every machine.
#pragma once

#include <cstdint>

namespace dts {

// A pseudo-random bijection of 64-bit words (the finaliser of SplitMix64, Steele et al. 2014, doi
// 10.1145/2660193.2660195).
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

// SplitMix64 itself. Each (seed, stream) is a separate sequence. Not thread-safe.
class Random {
 public:
  constexpr Random(std::uint64_t seed, std::uint64_t stream) : state_(mix(mix(seed) ^ stream)) {}

  // 0 <= value < 1, a multiple of 2^-53.
  [[nodiscard]] constexpr double uniform() {
    const std::uint64_t bits = mix(state_);
    state_ += 0x9E3779B97F4A7C15ULL;
    return static_cast<double>(bits >> 11) * 0x1.0p-53;
  }

  // Exponentially distributed with mean 1, using only comparisons (von Neumann 1951): a logarithm
  // could differ in the last bit between libms.
  [[nodiscard]] constexpr double exponential() {
    for (double whole = 0;; ++whole) {
      const double first = uniform();
      bool odd = true;  // the length of the falling sequence that begins with `first`
      for (double last = first, next = uniform(); next < last; last = next, next = uniform())
        odd = !odd;
      if (odd) return whole + first;
    }
  }

 private:
  std::uint64_t state_;
};

}  // namespace dts
