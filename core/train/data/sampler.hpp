// SPDX-License-Identifier: Apache-2.0
// Which sample is the i-th of an epoch: a pure function, so that no generator state needs saving.
#pragma once

#include "core/base/random.hpp"

#include <cstdint>

namespace dts::train {

// The `index`-th element, 0 <= index < count, of epoch `epoch`'s permutation of [0, count): a
// Feistel network on the next even power of two, walked along its cycle until it lands below
// `count` (Black and Rogaway 2002, "Ciphers with arbitrary finite domains"). count must be at
// least 1.
[[nodiscard]] std::uint64_t sample_index(std::uint64_t seed,
                                         std::uint64_t epoch,
                                         std::uint64_t index,
                                         std::uint64_t count);

}  // namespace dts::train
