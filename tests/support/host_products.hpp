// SPDX-License-Identifier: Apache-2.0
// Matrix products of the host's device.
#pragma once

#include "core/train/accelerator/dttrain_device.h"

namespace host_device {

// Of memory of the host.
void multiply_now(const dttrain_product& product);

}  // namespace host_device
