// SPDX-License-Identifier: Apache-2.0
// Requests the samples of the next step in advance.
#pragma once

#include "core/train/data/samples.hpp"

#include <cstdint>

namespace dts::train {

// Asks the kernel to read the `index`-th sample of a mapped file in the background
// (posix_madvise(3)), so that the step that uses it need not wait for a disk or a network. Returns
// at once; does nothing for images, which are in memory. Thread-safe.
void read_ahead(const Samples& samples, std::uint64_t index);

}  // namespace dts::train
