// SPDX-License-Identifier: Apache-2.0
// The vector kernels for the baseline of the processor architecture.
#define DTS_ISA portable
#include "core/train/device/kernels_impl.hpp"
