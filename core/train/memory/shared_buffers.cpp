// SPDX-License-Identifier: Apache-2.0
#include "core/train/memory/shared_buffers.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <new>
#include <utility>

namespace dts::train {
namespace {

struct Shared {
  SharedMemory memory;
  std::uint64_t id;
  std::size_t bytes;
};

struct Registry {
  std::atomic<bool> on{false};
  std::mutex mutex;
  std::uint64_t ids = 0;
  std::map<const std::byte*, Shared, std::less<>> arrays;  // by address
};

Registry& registry() {
  static Registry& all = *new Registry;  // never destroyed, because arrays may be freed very late
  return all;
}

}  // namespace

void share_buffers() {
  registry().on = true;
}

float* allocate_shared(std::size_t bytes) {
  constexpr std::size_t k_line = 64;
  Registry& all = registry();
  const std::size_t size = (std::max<std::size_t>(bytes, 1) + k_line - 1) / k_line * k_line;
  if (all.on) {
    if (auto memory = SharedMemory::create(size)) {
      std::byte* const at = memory->data();
      const std::lock_guard lock(all.mutex);
      all.arrays.emplace(at, Shared{*std::move(memory), ++all.ids, size});
      return reinterpret_cast<float*>(at);
    }
  }
  void* const at = std::aligned_alloc(k_line, size);
  if (at == nullptr) throw std::bad_alloc();
  std::memset(at, 0, size);
  return static_cast<float*>(at);
}

void free_shared(float* memory) {
  Registry& all = registry();
  {
    const std::lock_guard lock(all.mutex);
    if (all.arrays.erase(reinterpret_cast<const std::byte*>(memory)) > 0) return;
  }
  std::free(memory);
}

std::optional<SharedPlace> shared_place(const void* at, std::size_t bytes) {
  Registry& all = registry();
  const auto* const from = static_cast<const std::byte*>(at);
  const std::lock_guard lock(all.mutex);
  auto found = all.arrays.upper_bound(from);
  if (found == all.arrays.begin()) return std::nullopt;
  --found;
  const auto offset = static_cast<std::size_t>(from - found->first);
  if (offset + bytes > found->second.bytes) return std::nullopt;
  return SharedPlace{found->second.memory.name(), found->second.id, found->second.bytes, offset};
}

Result<const std::byte*> MappedArrays::at(const SharedPlace& place) {
  auto found = by_fd_.find(place.name.fd);
  if (found != by_fd_.end() && found->second.id != place.id) {
    by_fd_.erase(found);
    found = by_fd_.end();
  }
  if (found == by_fd_.end()) {
    DTS_ASSIGN(auto memory,
               SharedMemory::open(place.name, place.bytes, SharedMemory::Access::read));
    found = by_fd_.emplace(place.name.fd, Mapped{place.id, place.bytes, std::move(memory)}).first;
  }
  return found->second.memory.data() + place.offset;
}

}  // namespace dts::train
