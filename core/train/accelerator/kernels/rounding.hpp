// SPDX-License-Identifier: Apache-2.0
// Rounding to bf16, like round_to_bf16() in device/kernels.hpp: to nearest, ties to even.
#pragma once

#include "core/train/accelerator/kernels/block.hpp"

#include <cstring>

namespace dts::train::accelerator {

using Bfloat = std::uint16_t;  // the upper half of a float

[[nodiscard]] DTS_BLOCK_CODE inline Bfloat rounded_to_bf16(float value) {
#if defined(__CUDA_ARCH__)
  Bfloat rounded = 0;  // all NaNs become the same one
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(rounded) : "f"(value));
  return rounded;
#else
  std::uint32_t bits = 0;
  memcpy(&bits, &value, sizeof bits);
  const bool is_nan = (bits & 0x7FFFFFFFU) > 0x7F800000U;
  const std::uint32_t quiet = bits | 0x00400000U;
  const std::uint32_t nearest = bits + 0x7FFFU + ((bits >> 16) & 1U);
  return static_cast<Bfloat>((is_nan ? quiet : nearest) >> 16);
#endif
}

// The first of a pair is in the lower half.
[[nodiscard]] DTS_BLOCK_CODE inline std::uint32_t rounded_pair(float first, float second) {
#if defined(__CUDA_ARCH__)
  std::uint32_t pair = 0;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  return pair;
#else
  return rounded_to_bf16(first) | static_cast<std::uint32_t>(rounded_to_bf16(second)) << 16;
#endif
}

// The value of an element of an array, which has floats or rounded values.
[[nodiscard]] DTS_BLOCK_CODE inline float value_of(float stored) {
  return stored;
}

[[nodiscard]] DTS_BLOCK_CODE inline float value_of(Bfloat stored) {
  const std::uint32_t bits = static_cast<std::uint32_t>(stored) << 16;
  float value = 0;
  memcpy(&value, &bits, sizeof value);
  return value;
}

DTS_BLOCK_CODE inline void store(float& to, float value) {
  to = value;
}

DTS_BLOCK_CODE inline void store(Bfloat& to, float value) {
  to = rounded_to_bf16(value);
}

// Writes a value to the rounded copy, if there is one.
DTS_BLOCK_CODE inline void write_copy(Bfloat* copy, std::size_t at, float value) {
  if (copy != nullptr) copy[at] = rounded_to_bf16(value);
}

// Rounds matrices, which may have gaps between rows and between matrices, to `to`
// [matrices][rows][columns] without gaps. An element is one of `to`.
struct RoundMatrices : Elementwise {
  int rows = 0;
  int columns = 0;
  int pitch = 0;
  std::int64_t stride = 0;
  const float* from = nullptr;
  Bfloat* to = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    const std::size_t area = row_begin(static_cast<std::size_t>(rows), columns);
    const bool has_gaps = pitch != columns;
    for (std::size_t matrix = 0; matrix < count / area && !has_gaps; ++matrix)
      accelerator::reads(visit, from + matrix * static_cast<std::size_t>(stride), area);
    for (std::size_t matrix = 0; matrix < count / area && has_gaps; ++matrix)
      for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row)
        accelerator::reads(visit,
                           from + matrix * static_cast<std::size_t>(stride) + row_begin(row, pitch),
                           static_cast<std::size_t>(columns));
    accelerator::writes(visit, to, count);
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& /*shared*/) const {
    for_each(block, [&](std::size_t i) {
      const auto width = static_cast<std::size_t>(columns);
      const std::size_t row = i / width % static_cast<std::size_t>(rows);
      const std::size_t matrix = i / width / static_cast<std::size_t>(rows);
      to[i] = rounded_to_bf16(
          from[matrix * static_cast<std::size_t>(stride) + row_begin(row, pitch) + i % width]);
    });
  }
};

}  // namespace dts::train::accelerator
