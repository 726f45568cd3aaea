// SPDX-License-Identifier: Apache-2.0
// The host's device (host_device.hpp) that also records what its streams and the host read and
// write, and which waits order it, and tries whether each kernel reads and writes what it says.
#pragma once

#include "core/train/accelerator/queue/queue.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace recording_device {

// All that follows, until the next one, is of one context.
[[nodiscard]] std::unique_ptr<dts::train::accelerator::Queue> new_queue();

// The wait of that number, from 0, of the host or of a stream, orders nothing; it is made, so that
// nothing else goes wrong.
void leave_out_wait(std::size_t number);

// The host accesses memory of the device, as no program should unless it has waited.
void touch(const void* at, std::size_t bytes, bool writes);

// Since new_queue():
[[nodiscard]] std::size_t waits();
[[nodiscard]] std::size_t launches();
[[nodiscard]] std::size_t replays();
[[nodiscard]] std::vector<std::string> races();
// Kernels, by number, that read or wrote elsewhere than they say.
[[nodiscard]] std::vector<std::string> strays();

}  // namespace recording_device
