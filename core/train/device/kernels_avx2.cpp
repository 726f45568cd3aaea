// SPDX-License-Identifier: Apache-2.0
// The vector kernels for AVX2 and FMA.
#define DTS_ISA avx2
#include "core/train/device/kernels_impl.hpp"
