// SPDX-License-Identifier: Apache-2.0
// The memory that a kernel sees: its parameters, the shared memory of a block, and global memory.
#pragma once

#include "tests/ptx/accesses.hpp"
#include "tests/ptx/program.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace ptx {

struct Launch {
  const void* arguments = nullptr;  // the kernel's parameter
  std::size_t argument_bytes = 0;
  std::size_t blocks = 0;
  int threads = 0;    // of a block, a multiple of 32
  unsigned seed = 0;  // of the orders
  // Whether these bytes are of one allocation of global memory, whose addresses are the host's.
  std::function<bool(std::uint64_t at, std::size_t bytes)> is_allocated;
};

// Not thread-safe.
class Memory {
 public:
  // The launch must outlive this.
  Memory(const Launch& launch, std::size_t shared_bytes);

  // Makes all bytes of shared memory 0xff, so that its floats are NaN.
  void begin_block();

  // Where `bytes` bytes at an address are in this process, of which only so many may be accessed.
  // Throws std::runtime_error if the address is not a multiple of `bytes`, if a byte is not
  // allocated, or if the access is part of a data race.
  [[nodiscard]] const std::byte* read(Space space, std::uint64_t at, int bytes, const Access& now);
  [[nodiscard]] std::byte* write(Space space, std::uint64_t at, int bytes, const Access& now);

 private:
  Accesses& accesses(Space space) { return space == Space::shared ? of_shared_ : of_global_; }

  std::byte* place(Space space, std::uint64_t at, int bytes);

  const Launch& launch_;
  std::vector<std::byte> shared_;
  Accesses of_shared_;
  Accesses of_global_;
};

}  // namespace ptx
