// SPDX-License-Identifier: Apache-2.0
// exp, log, sin and cos with the same bits on every processor. The C library chooses versions with
// or without fused multiply-add at run time, which differ in the last bit.
//
// Compiled without contraction, and made only of additions, multiplications and divisions, for
// which IEEE 754 prescribes the rounding. Pure, thread-safe.
#pragma once

namespace dts::train {

// e^x within 0.51 units in the last place. The argument is reduced to k ln2 / 32 + r; a table has
// 2^(k / 32), and a polynomial of degree 3 computes the rest (S. Nagy, "Optimized routines", exp2f,
// Arm 2017, MIT licence, also in glibc 2.28 and later, with which it agrees). 0 below -104,
// infinite above 89, NaN for NaN.
[[nodiscard]] float portable_exp(float x);

// e^x for |x| <= 700, relative error below 1e-15: k ln2 + r, then Taylor's series on |r| <= ln2 /
// 2.
[[nodiscard]] double precise_exp(double x);

// The natural logarithm of a positive normal number, relative error below 1e-15 (absolute near 1):
// 2 atanh((m - 1) / (m + 1)) of the fraction m in [sqrt(1/2), sqrt(2)), plus the exponent's share.
// Infinite for infinity, NaN for NaN.
[[nodiscard]] double portable_log(double x);

// cos(pi x) for x in [0, 1], within 1e-15: Taylor's series on [0, 1/4] and
// the symmetries of the cosine.
[[nodiscard]] double cosine_of_pi(double x);

struct SineCosine {
  double sine = 0;
  double cosine = 0;
};

// The sine and cosine of x radians, 0 <= x <= 2^31, within 1e-15 + x 1e-19. x is reduced by
// multiples of pi / 2, whose first part has so few bits that the product is exact (W. J. Cody and
// W. Waite, "Software Manual for the Elementary Functions", 1980).
[[nodiscard]] SineCosine portable_sincos(double x);

}  // namespace dts::train
