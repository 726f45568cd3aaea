// SPDX-License-Identifier: Apache-2.0
// The vector kernels for AVX-512 F, DQ, VL and BW.
#define DTS_ISA avx512
#include "core/train/device/kernels_impl.hpp"
