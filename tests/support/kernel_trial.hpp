// SPDX-License-Identifier: Apache-2.0
// The accesses of products, and a check on the host device that kernels access what they declare.
#pragma once

#include "core/train/accelerator/dttrain_device.h"
#include "core/train/accelerator/kernels/block.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace recording_device {

// All memory of a device: the size of each allocation.
using Memory = std::map<std::byte*, std::size_t>;

// One access for each row of its factors and outputs.
[[nodiscard]] std::vector<dts::train::accelerator::Access> accesses_of(
    const dttrain_product& product);

// Runs a kernel twice, the second time with NaN in all memory that it does not declare to read, and
// leaves its output. Adds to `strays` that the kernel, called `what`, wrote or read memory that is
// not in `all`.
const char* try_kernel(const std::string& what,
                       const Memory& memory,
                       const std::vector<dts::train::accelerator::Access>& all,
                       const std::function<const char*()>& run,
                       std::vector<std::string>& strays);

}  // namespace recording_device
