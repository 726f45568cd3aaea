// SPDX-License-Identifier: Apache-2.0
// The host device (host_device.hpp), which also records the accesses of its streams and of the
// host, and the waits that order them, and checks that each kernel accesses what it declares.
#pragma once

#include "core/train/accelerator/queue/queue.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace recording_device {

// Makes a queue for a new recording: the functions below refer to the latest one.
[[nodiscard]] std::unique_ptr<dts::train::accelerator::Queue> new_queue();

// Wait number `number`, from 0, of the host or a stream, is recorded as if it ordered nothing. It
// still waits, so that nothing else goes wrong.
void skip_wait(std::size_t number);

// Records an access by the host to device memory, which needs a wait before it.
void touch(const void* at, std::size_t bytes, bool writes);

// Counts since new_queue():
[[nodiscard]] std::size_t waits();
[[nodiscard]] std::size_t launches();
[[nodiscard]] std::size_t replays();
[[nodiscard]] std::vector<std::string> races();
// Kernels, by number, that read or wrote memory that they do not declare.
[[nodiscard]] std::vector<std::string> strays();

}  // namespace recording_device
