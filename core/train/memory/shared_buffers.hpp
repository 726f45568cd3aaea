// SPDX-License-Identifier: Apache-2.0
// Arrays in memory that other ranks of the node can map: what they get of such an array, they read
// where it is. Thread-safe.
#pragma once

#include "core/train/memory/node_memory.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace dts::train {

// From now on allocate_shared() makes such memory; before, and where the kernel gives none, it
// makes ordinary memory.
void share_buffers();

// Zeroed, aligned to a cache line. Throws std::bad_alloc.
[[nodiscard]] float* allocate_shared(std::size_t bytes);
void free_shared(float* memory);

// Where others find part of such an array. Plain data, sent between ranks.
struct SharedPlace {
  SharedMemoryName name;
  std::uint64_t id = 0;      // of the array: never that of another one of this process
  std::uint64_t bytes = 0;   // of the whole array
  std::uint64_t offset = 0;  // of the part
};

// nullopt if not all of it is in one such array.
[[nodiscard]] std::optional<SharedPlace> shared_place(const void* at, std::size_t bytes);

// Arrays of another process, mapped when first asked for, until its descriptor of one belongs to
// another. Not thread-safe.
class MappedArrays {
 public:
  // Where such a part is here. Errc::io or not_found.
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
