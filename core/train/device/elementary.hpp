// SPDX-License-Identifier: Apache-2.0
// exp and cos with the same bits on every processor. Those of the C library are chosen by the
// processor at run time, with and without fused multiply-add, and differ in their last bit.
//
// Compiled without contraction and built from additions and multiplications alone, which IEEE 754
// rounds in one way only. Pure, thread-safe.
#pragma once

namespace dts::train {

// e^x within 0.51 units in the last place: the argument is reduced to k ln2 / 32 + r, a table has
// 2^(k / 32), and a polynomial of degree 3 the rest (S. Nagy, "Optimized routines", exp2f, Arm
// 2017, MIT licence, also in glibc 2.28 and later, with which it agrees). 0 below -104, infinite
// above 89, NaN for NaN.
[[nodiscard]] float portable_exp(float x);

// cos(pi x) for x in [0, 1], within 1e-15: Taylor's series on [0, 1/4] and
// the symmetries of the cosine.
[[nodiscard]] double cosine_of_pi(double x);

}  // namespace dts::train
