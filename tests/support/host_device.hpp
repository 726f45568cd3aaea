// SPDX-License-Identifier: Apache-2.0
// A device made of the host's processor: the kernels of core/train/accelerator as the host's
// compiler sees them, behind the table of a module. For tests of everything above that table.
//
// What is enqueued is done when something waits for it and not before (host_streams.hpp); new
// memory is full of NaN; each piece is an allocation of its own, so that a sanitizer sees its ends.
#pragma once

#include "core/train/accelerator/dttrain_device.h"

#include <cstdint>

namespace host_device {

// The order of the blocks of a kernel, and of the threads within each(): bits must not depend on
// it.
enum class Order { ascending, descending };

void set_order(Order order);

// What count() and open() say instead; 0: nothing.
void set_lack(int lack);

// Whether it was asked to run the kernel of that number, by whoever.
[[nodiscard]] bool has_launched(std::uint32_t number);

[[nodiscard]] const dttrain_device* table();

}  // namespace host_device
