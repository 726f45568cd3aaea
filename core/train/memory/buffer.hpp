// SPDX-License-Identifier: Apache-2.0
// An array of floats aligned to a cache line, initially zero. Movable; not thread-safe.
#pragma once

#include "core/train/memory/shared_buffers.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>

namespace dts::train {

struct FreeFloats {
  bool is_shared = false;

  void operator()(float* floats) const { is_shared ? free_shared(floats) : std::free(floats); }
};

class Buffer {
 public:
  Buffer() = default;

  explicit Buffer(std::size_t count) : data_(allocate(count)), count_(count) {}

  // One whose content goes to other ranks: those of the node read it where it is, once
  // share_buffers() has been called.
  [[nodiscard]] static Buffer shared(std::size_t count) {
    Buffer made;
    made.data_ = {allocate_shared(count * sizeof(float)), FreeFloats{true}};
    made.count_ = count;
    return made;
  }

  [[nodiscard]] float* data() { return data_.get(); }

  [[nodiscard]] const float* data() const { return data_.get(); }

  [[nodiscard]] std::size_t size() const { return count_; }

  [[nodiscard]] std::span<float> all() { return {data_.get(), count_}; }

  [[nodiscard]] std::span<const float> all() const { return {data_.get(), count_}; }

 private:
  static float* allocate(std::size_t count) {
    const std::size_t bytes = (count * sizeof(float) + 63) / 64 * 64;
    auto* const p = static_cast<float*>(std::aligned_alloc(64, std::max<std::size_t>(bytes, 64)));
    if (p == nullptr) throw std::bad_alloc();
    std::fill_n(p, count, 0.0F);
    return p;
  }

  std::unique_ptr<float[], FreeFloats> data_;
  std::size_t count_ = 0;
};

// For tests: one bit in the middle of its fraction, which nobody would notice.
inline void flip_bit(float& value) {
  value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) ^ 0x00001000U);
}

}  // namespace dts::train
