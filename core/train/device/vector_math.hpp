// SPDX-License-Identifier: Apache-2.0
// Exponentials, sums and ends of rows for kernels; vectors.hpp explains how this is
// included.
#pragma once

#include "core/train/device/vectors.hpp"

namespace dts::train::DTS_ISA {
namespace {

DTS_INLINE float sum_lanes(const Vec& v) {
  float sum = 0;
  for (int lane = 0; lane < k_lanes; ++lane) sum += v[lane];
  return sum;
}

DTS_INLINE float top_lane(const Vec& v) {
  float top = v[0];
  for (int lane = 1; lane < k_lanes; ++lane) top = v[lane] > top ? v[lane] : top;
  return top;
}

DTS_INLINE void larger(Vec& top, const Vec& v) {
  top = v > top ? v : top;
}

// Loads `count` lanes, fewer than a vector; the others become `fill`.
DTS_INLINE void load_some(Vec& v, const float* from, int count, float fill) {
  v = Vec{} + fill;
  for (int lane = 0; lane < count; ++lane) v[lane] = from[lane];
}

DTS_INLINE void store_some(float* to, const Vec& v, int count) {
  for (int lane = 0; lane < count; ++lane) to[lane] = v[lane];
}

// Loads the next 16 of `left` values, or all if there are fewer.
DTS_INLINE void load_next(Vec& v, const float* from, int left, float fill) {
  if (left >= k_lanes)
    load(v, from);
  else
    load_some(v, from, left, fill);
}

DTS_INLINE void store_next(float* to, const Vec& v, int left) {
  if (left >= k_lanes)
    store(to, v);
  else
    store_some(to, v, left);
}

// e^x within 2 units in the last place: x = n ln2 + r, a polynomial of degree 7 (S. L. Moshier,
// "Methods and Programs for Mathematical Functions", 1989). 0 below -87, 3e38 above 88, NaN for
// NaN.
DTS_INLINE void raise(Vec& x) {
  const Vec least = Vec{} - 87.0F;
  const Vec most = Vec{} + 88.3F;
  const Mask is_zero = x < least;
  x = is_zero ? least : x;
  x = x > most ? most : x;
  const Vec shifted = x * 1.44269504F + 12582912.0F;  // rounds to an integer
  const Vec n = shifted - 12582912.0F;
  const Vec r = x - n * 0.693359375F + n * 2.12194440e-4F;
  Vec p = r * 1.9875691500e-4F + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * (r * r) + r + 1.0F;
  Mask bits;
  __builtin_memcpy(&bits, &shifted, sizeof bits);  // n is in the lowest bits
  bits = (bits + (127 - 0x4B400000)) << 23;
  Vec power;
  __builtin_memcpy(&power, &bits, sizeof power);
  const Vec zero = {};
  x = is_zero ? zero : p * power;
}

// 1 / (1 + exp(-x)).
DTS_INLINE void squash(Vec& x) {
  x = -x;
  raise(x);
  x = 1.0F / (1.0F + x);
}

DTS_INLINE std::size_t row_at(int row, int width) {
  return static_cast<std::size_t>(row) * static_cast<std::size_t>(width);
}

}  // namespace
}  // namespace dts::train::DTS_ISA
