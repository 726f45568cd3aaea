// SPDX-License-Identifier: Apache-2.0
// Memory shared by the ranks of one node, without MPI windows: to free those, every rank spins in a
// barrier, and a spinning rank can keep its core from the rank it waits for (measured on Linux
// 6.18: for minutes, if the two belong to different scheduling groups).
#pragma once

#include "core/base/files/unique_fd.hpp"
#include "core/base/result.hpp"

#include <cstddef>
#include <cstdint>

namespace dts::train {

// Equal for two processes that can share memory by SharedMemory: same boot of the same kernel, same
// PID namespace, same host name (so that simulated nodes stay apart).
[[nodiscard]] std::uint64_t node_key();

// Lets another process find the memory; plain data, sent between ranks.
struct SharedMemoryName {
  std::int64_t pid = 0;
  std::int64_t fd = -1;
};

// An anonymous in-memory file (memfd_create(2)), so that a crash leaves nothing to clean up. Mapped
// until destroyed. Only the creator's `name()` is valid, and only while that object lives. Not
// thread-safe.
class SharedMemory {
 public:
  [[nodiscard]] static Result<SharedMemory> create(std::size_t bytes);  // zeroed, writable
  enum class Access { read, write };

  [[nodiscard]] static Result<SharedMemory> open(SharedMemoryName name,
                                                 std::size_t bytes,
                                                 Access access);

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
