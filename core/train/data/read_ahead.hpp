// SPDX-License-Identifier: Apache-2.0
// Samples of the next step, asked for before they are needed.
#pragma once

#include "core/train/data/samples.hpp"

#include <cstdint>

namespace dts::train {

// Has the kernel read the `index`-th sample of a mapped file meanwhile (posix_madvise(3)), so that
// the step that trains on it need not wait for a disk or a network. Returns at once; nothing for
// images, which are in memory. Thread-safe.
void read_ahead(const Samples& samples, std::uint64_t index);

}  // namespace dts::train
