// SPDX-License-Identifier: Apache-2.0
// Images as devices have them: [image][row][column][channel].
#pragma once

#include "core/train/device/kernels.hpp"
#include "tests/unit/accelerator/device.hpp"

namespace dts::train::accelerator {

inline std::size_t place(const Images& s, int n, int c, int y, int x) {
  return static_cast<std::size_t>(((n * s.height + y) * s.width + x) * s.channels + c);
}

}  // namespace dts::train::accelerator
