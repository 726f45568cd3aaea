// SPDX-License-Identifier: Apache-2.0
#include "core/train/accelerator/queue.hpp"

#include <algorithm>
#include <cstring>

namespace dts::train::accelerator {

Queue::Queue(const dttrain_device& device, dttrain_context* context)
    : device_(device), context_(context) {}

Queue::~Queue() {
  (void)device_.wait(context_);
  for (void* const at : memory_) free_memory(at);
  for (void* const at : pinned_) device_.release_host(context_, at);
  if (staging_ != nullptr) device_.release_host(context_, staging_);
  device_.close(context_);
}

void Queue::free_memory(void* at) {
  touch(at, 1, true);
  device_.release(context_, at);
}

void Queue::touch(const void* at, std::size_t bytes, bool writes) {
  if (touched_) touched_({at, bytes, writes});
}

dttrain_facts Queue::facts() {
  dttrain_facts facts{};
  check(device_.facts(context_, &facts));
  return facts;
}

void* Queue::allocate_bytes(std::size_t bytes) {
  void* at = nullptr;
  const std::size_t room = std::max<std::size_t>(bytes, 1);
  check(device_.allocate(context_, room, &at));
  memory_.push_back(at);
  clear(static_cast<std::byte*>(at), room);
  return at;
}

float* Queue::allocate_pinned(std::size_t count) {
  void* at = nullptr;
  check(device_.allocate_host(context_, count * sizeof(float), &at));
  pinned_.push_back(at);
  return static_cast<float*>(at);
}

void Queue::release(void* at) {
  wait();
  std::erase(memory_, at);
  free_memory(at);
}

std::byte* Queue::half(std::size_t number) {
  if (staging_ == nullptr) check(device_.allocate_host(context_, 2 * k_staging, &staging_));
  return static_cast<std::byte*>(staging_) + number * k_staging;
}

// While the device reads one half, the other one is filled.
void Queue::copy_to_device(void* to, const void* from, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += k_staging, next_half_ ^= 1U) {
    const std::size_t part = std::min(k_staging, bytes - at);
    if (is_read_[next_half_]) wait();
    std::byte* const by = half(next_half_);
    touch(by, part, true);
    std::memcpy(by, static_cast<const std::byte*>(from) + at, part);
    check(device_.to_device(context_, static_cast<std::byte*>(to) + at, by, part));
    is_read_[next_half_] = true;
  }
}

void Queue::copy_to_host(void* to, const void* from, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += 2 * k_staging) {
    const std::size_t both = std::min(2 * k_staging, bytes - at);
    check(device_.to_host(context_, half(0), static_cast<const std::byte*>(from) + at, both));
    wait();
    touch(half(0), both, false);
    std::memcpy(static_cast<std::byte*>(to) + at, half(0), both);
  }
}

}  // namespace dts::train::accelerator
