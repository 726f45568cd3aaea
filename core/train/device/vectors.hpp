// SPDX-License-Identifier: Apache-2.0
// Vectors of 16 floats for kernels, included once per instruction set by a file that is compiled
// for it and has defined DTS_ISA, the name of its namespace.
//
// Only built-ins are used: if an inline function of the standard library were compiled for AVX-512,
// the linker might use that copy for the whole program.
#pragma once

#include "core/train/device/kernels.hpp"

#ifndef DTS_ISA
#error "define DTS_ISA before including this file"
#endif
#define DTS_INLINE inline __attribute__((always_inline))

namespace dts::train::DTS_ISA {
namespace {

using Vec = float __attribute__((vector_size(64)));
using Words = std::uint32_t __attribute__((vector_size(64)));
using Mask = std::int32_t __attribute__((vector_size(64)));
using Wide = double __attribute__((vector_size(128)));  // Vec in double precision

DTS_INLINE void load(Vec& v, const float* from) {
  __builtin_memcpy(&v, from, sizeof v);
}

DTS_INLINE void store(float* to, const Vec& v) {
  __builtin_memcpy(to, &v, sizeof v);
}

DTS_INLINE void widen_add(Wide& sum, const Vec& v) {
  sum += __builtin_convertvector(v, Wide);
}

}  // namespace
}  // namespace dts::train::DTS_ISA
