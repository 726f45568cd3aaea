// SPDX-License-Identifier: Apache-2.0
// Images in the layout of devices, [image][row][column][channel], as floats or rounded to bf16.
#pragma once

#include "core/train/accelerator/products.hpp"
#include "core/train/device/kernels.hpp"
#include "tests/unit/accelerator/device.hpp"

#include <cstring>

namespace dts::train::accelerator {

inline std::size_t place(const Images& s, int n, int c, int y, int x) {
  return static_cast<std::size_t>(((n * s.height + y) * s.width + x) * s.channels + c);
}

// Values that bf16 can represent.
inline Floats rounded_noise(std::size_t count, std::uint64_t seed, float size = 1) {
  return widened(rounded(noise(count, seed, size)));
}

// Images as blocks with these products store them: rounded values replace floats in their memory.
inline Floats stored(const Products& products, const Floats& values) {
  if (!products.rounds()) return values;
  const Bfloats all = rounded(values);
  Floats place(values.size());
  std::memcpy(place.data(), all.data(), all.size() * sizeof(Bfloat));
  return place;
}

// The values of stored images.
inline Floats images_at(const Products& products, const float* at, std::size_t count) {
  if (!products.rounds()) return {at, at + count};
  Bfloats all(count);
  std::memcpy(all.data(), at, count * sizeof(Bfloat));
  return widened(all);
}

}  // namespace dts::train::accelerator
