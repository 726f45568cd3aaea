// SPDX-License-Identifier: Apache-2.0
// The vector kernels for every processor's baseline.
#define DTS_ISA portable
#include "core/train/device/kernels_impl.hpp"
