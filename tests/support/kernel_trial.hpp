// SPDX-License-Identifier: Apache-2.0
// What products access, and whether kernels access what they say, tried on the host's device.
#pragma once

#include "core/train/accelerator/dttrain_device.h"
#include "core/train/accelerator/kernels/block.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace recording_device {

// All memory of a device: the bytes of each allocation.
using Memory = std::map<std::byte*, std::size_t>;

// Each row of its factors and of what it writes.
[[nodiscard]] std::vector<dts::train::accelerator::Access> accesses_of(
    const dttrain_product& product);

// Runs a kernel twice, the second time with all memory full of NaN but for what it reads, and
// leaves what it has written. In `strays` is what was wrong: that it, by the name of `what`, has
// written elsewhere than `all` says, or has read there.
const char* try_kernel(const std::string& what,
                       const Memory& memory,
                       const std::vector<dts::train::accelerator::Access>& all,
                       const std::function<const char*()>& run,
                       std::vector<std::string>& strays);

}  // namespace recording_device
