// SPDX-License-Identifier: Apache-2.0
// Arrays in memory that other ranks of the node can map, so that they read messages in place.
// Thread-safe.
#pragma once

#include "core/train/memory/node_memory.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace dts::train {

// From now on allocate_shared() returns shared memory. Before, and if the kernel provides none, it
// returns ordinary memory.
void share_buffers();

// Filled with zeros and aligned to a cache line. Throws std::bad_alloc.
[[nodiscard]] float* allocate_shared(std::size_t bytes);
void free_shared(float* memory);

// Tells other ranks where a part of such an array is. Plain data, sent between ranks.
struct SharedPlace {
  SharedMemoryName name;
  std::uint64_t id = 0;      // of the array; unique within this process
  std::uint64_t bytes = 0;   // of the whole array
  std::uint64_t offset = 0;  // of the part
};

// nullopt unless the whole part is in one such array.
[[nodiscard]] std::optional<SharedPlace> shared_place(const void* at, std::size_t bytes);

// The arrays of another process. Each is mapped when first requested, and until its descriptor
// belongs to another array. Not thread-safe.
class MappedArrays {
 public:
  // The address of such a part in this process. Errc::io or Errc::not_found.
  [[nodiscard]] Result<const std::byte*> at(const SharedPlace& place);

 private:
  struct Mapped {
    std::uint64_t id;
    std::size_t bytes;
    SharedMemory memory;
  };

  std::map<std::int64_t, Mapped> by_fd_;
};

}  // namespace dts::train
