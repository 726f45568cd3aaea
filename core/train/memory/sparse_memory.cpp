// SPDX-License-Identifier: Apache-2.0
#include "core/train/memory/sparse_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <new>

namespace dts::train {

float* allocate_sparse(std::size_t bytes) {
  void* const at = ::mmap(nullptr,
                          std::max<std::size_t>(bytes, 1),
                          PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                          -1,
                          0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  return static_cast<float*>(at);
}

void free_sparse(float* memory, std::size_t bytes) {
  ::munmap(memory, std::max<std::size_t>(bytes, 1));
}

void drop_pages(float* begin, float* end) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(begin) % page;
  auto* const first = reinterpret_cast<std::byte*>(begin) + before;
  auto* const last =
      reinterpret_cast<std::byte*>(end) - reinterpret_cast<std::uintptr_t>(end) % page;
  if (first < last) ::madvise(first, static_cast<std::size_t>(last - first), MADV_DONTNEED);
}

}  // namespace dts::train
