// SPDX-License-Identifier: Apache-2.0
// Memory that the ranks of one node share, without MPI's windows: to free those, every rank spins
// in a barrier, and a rank that spins can keep its core from the one it waits for (measured on
// Linux 6.18: for minutes, where the two belong to different scheduling groups).
#pragma once

#include "core/base/files/unique_fd.hpp"
#include "core/base/result.hpp"

#include <cstddef>
#include <cstdint>

namespace dts::train {

// Equal for two processes that can share memory by SharedMemory: the same boot of the same kernel,
// the same process namespace, the same host name (so that simulated nodes stay apart).
[[nodiscard]] std::uint64_t node_key();

// How another process finds it; plain data, sent between ranks.
struct SharedMemoryName {
  std::int64_t pid = 0;
  std::int64_t fd = -1;
};

// An anonymous file (memfd_create(2)) in memory: nothing to clean up after a crash. Mapped until
// destroyed; `name()` holds as long as the creator's object lives. Not thread-safe.
class SharedMemory {
 public:
  [[nodiscard]] static Result<SharedMemory> create(std::size_t bytes);  // zeroed, writable
  [[nodiscard]] static Result<SharedMemory> open(SharedMemoryName name,
                                                 std::size_t bytes);  // read-only

  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&&) = delete;
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

  [[nodiscard]] std::byte* data() const { return data_; }

  [[nodiscard]] SharedMemoryName name() const;

 private:
  [[nodiscard]] static Result<SharedMemory> map(UniqueFd fd, std::size_t bytes, int protection);

  SharedMemory(UniqueFd fd, std::byte* data, std::size_t bytes)
      : fd_(std::move(fd)), data_(data), bytes_(bytes) {}

  UniqueFd fd_;
  std::byte* data_;
  std::size_t bytes_;
};

}  // namespace dts::train
