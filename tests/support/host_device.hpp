// SPDX-License-Identifier: Apache-2.0
// A device simulated by the host's processor: the kernels of core/train/accelerator, compiled for
// the host, with the table of a module. For tests of everything above that table.
//
// Enqueued work is done only when something waits for it (host_streams.hpp). New memory is filled
// with NaN. Each piece of memory is an allocation of its own, so that sanitizers detect accesses
// outside it.
#pragma once

#include "core/train/accelerator/dttrain_device.h"

#include <cstdint>

namespace host_device {

// The order of a kernel's blocks, and of the threads in each(). Bits must not depend on
// it.
enum class Order { ascending, descending };

void set_order(Order order);

// What count() and open() report to be lacking; 0: nothing.
void set_lack(int lack);

// Whether any caller has launched the kernel with this number.
[[nodiscard]] bool has_launched(std::uint32_t number);

[[nodiscard]] const dttrain_device* table();

// The same for a module, where the environment may set what is lacking.
[[nodiscard]] const dttrain_device* table_of_module();

}  // namespace host_device
