// SPDX-License-Identifier: Apache-2.0
// Matrix products of the host device.
#pragma once

#include "core/train/accelerator/dttrain_device.h"

namespace host_device {

// All matrices are in host memory.
void multiply_now(const dttrain_product& product);

}  // namespace host_device
